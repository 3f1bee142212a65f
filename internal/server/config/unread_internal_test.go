package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ringback/test/must"
)

// loadWith loads the settings from an environment and, unless file is empty, a .env file.
func loadWith(t *testing.T, environment []string, file string) (Config, error) {
	t.Helper()
	dir := t.TempDir()
	if file != "" {
		must.OK(t, os.WriteFile(filepath.Join(dir, ".env"), []byte(file), 0o600))
	}
	return loadServer(dir, environment)
}

func nothingElse(string) bool { return false }

// Each row is a variable that is meant for us and has no effect, and what is said about it.
func TestAMisspeltVariableIsNeverSilent(t *testing.T) {
	t.Parallel()
	const later, unknown = "this version has no such setting", "is not a setting of this version"
	for name, says := range map[string]string{
		"WORKER": "WORKERS", "workers": "WORKERS", "Workers": "WORKERS", "WORKES": "WORKERS", "RINGBACK_WORKERS": "WORKERS", "ringback_workers": "WORKERS", "WORKERS ": "WORKERS",
		"HUMAN_TIMOUT": "HUMAN_TIMEOUT", "HUMANTIMEOUT": "HUMAN_TIMEOUT", "HUMAN-TIMEOUT": "HUMAN_TIMEOUT", "human.timeout": "HUMAN_TIMEOUT", "HUMAN_TIMEOUTS": "HUMAN_TIMEOUT",
		"LISTEN_ADDRESS": "LISTEN_ADDR", "LISTENADDR": "LISTEN_ADDR", "LISTEN_ADR": "LISTEN_ADDR", "REDIS_URI": "REDIS_URL", "REDISURL": "REDIS_URL", "redis.url": "REDIS_URL", "RINGBACK_REDIS_URL": "REDIS_URL",
		"REDIS_URL_FILES": "REDIS_URL_FILE", "WEBHOOK_SECERT_FILE": "WEBHOOK_SECRET_FILE", "WEBHOOK_SECERT": "WEBHOOK_SECRET", "WEBHOOKSECRET": "WEBHOOK_SECRET", "INBOUND_WEBHOOK_SECRETS": "INBOUND_WEBHOOK_SECRET",
		"BUDGET_USD_DAY": "BUDGET_USD_PER_DAY", "BUDGET_PER_DAY": "BUDGET_USD_PER_DAY", "BUDGET_USD_PERDAY": "BUDGET_USD_PER_DAY", "BUDGET_USD_PER_USER_DAY": "BUDGET_USD_PER_USER_PER_DAY", "JOBS_PER_USER": "JOBS_PER_USER_AT_ONCE",
		"CALLBACK_TIMOUT": "CALLBACK_TIMEOUT", "CALLBACK_BASEURL": "CALLBACK_BASE_URL", "CALLBACK_BASE_URI": "CALLBACK_BASE_URL", "USE_CALLBACK_CLAUD": "USE_CALLBACK_CLAUDE", "CLAUDE_BINARY": "CLAUDE_BIN", "CLAUDE_ARG": "CLAUDE_ARGS",
		"DATA_DIRECTORY": "DATA_DIR", "DATADIR": "DATA_DIR", "PROMPT_DIR": "PROMPTS_DIR", "PROMPTS_DIRECTORY": "PROMPTS_DIR", "SCHEMA_DIR": "SCHEMAS_DIR", "LOGLEVEL": "LOG_LEVEL", "LOG_FORMATT": "LOG_FORMAT",
		"CORS_ORIGIN": "CORS_ORIGINS", "ALLOWED_HOST": "ALLOWED_HOSTS", "TRUSTED_PROXYS": "TRUSTED_PROXIES", "SANBOX": "SANDBOX", "SANDBOXES": "SANDBOX", "RETENTON": "RETENTION", "HOLDS": "HOLD", "NODE_TIMOUT": "NODE_TIMEOUT",
		"API_KEY": "API_KEYS", "RINGBACK_TOKENS": "RINGBACK_TOKEN", "SLACK_WEBHOOKURL": "SLACK_WEBHOOK_URL", "MIRROR_LIMIT": "MIRRORS_LIMIT", "PRICE_FILE": "PRICES_FILE", "WEBSOCKET": "WEBSOCKETS",
		"RINGBACK_LISTEN": unknown, "RINGBACK_ADDR": unknown, "SMTP_URL": later, "PEOPLE_FILE": later, "OIDC_ISSUER": later, "OPERATOR_LISTEN_ADDRESS": "OPERATOR_LISTEN_ADDR", "SLACK_BOT_TOKEN": later,
	} {
		c, err := loadWith(t, []string{name + "=1"}, "")
		must.OK(t, err, name+" is refused:")
		misspelt, others := c.Unread(nothingElse)
		want := says
		if says != later && says != unknown {
			want = "did you mean " + says + "?"
		}
		if len(misspelt) != 1 || len(others) > 0 || !strings.Contains(misspelt[0], name+" ") || !strings.Contains(misspelt[0], want) {
			t.Errorf("%s: said %q, want %q", name, misspelt, want)
		}
	}
}

func TestAServerThatWouldBeOpenDoesNotStart(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"API_KEYS_FILES", "API_KEY_FILE", "API_KEYFILE", "APIKEYSFILE", "api_keys_file", "RINGBACK_API_KEYS_FILE", "API-KEYS-FILE", "API_KEYES", "APIKEYS", "RINGBACK_API_KEYS",
		"JWT_SECRETS", "JWT_SECERT", "JWTSECRET", "jwt_secret", "JWT_SECRET_FILES", "JWT_SECERT_FILE", "RINGBACK_JWT_SECRET",
	} {
		_, err := loadWith(t, []string{name + "=x"}, "")
		must.Fail(t, err, name+" is not a setting", name)
		for why, environment := range map[string][]string{
			"with a key, nobody gets in by the mistake": {name + "=x", "API_KEYS=0f1e2d3c4b5a6978"}, "set to nothing, it means nothing": {name + "="},
		} {
			_, err := loadWith(t, environment, "")
			must.OK(t, err, name+": "+why+":")
		}
	}
}

func TestWhatOtherProgramsReadIsNotMentioned(t *testing.T) {
	t.Parallel()
	var environment []string
	for name := range strings.FieldsSeq(`
		PATH HOME USER LOGNAME SHELL TERM COLORTERM PWD OLDPWD SHLVL LANG LC_ALL EDITOR VISUAL PAGER MANPAGER GH_PAGER AWS_PAGER BAT_PAGER GIT_PAGER_IN_USE SYSTEMD_PAGER DELTA_PAGER LESS LS_COLORS
		FORCE_COLOR CLICOLOR COLOR BROWSER MAIL DISPLAY XDG_RUNTIME_DIR XDG_DATA_DIRS DBUS_SESSION_BUS_ADDRESS SSH_AUTH_SOCK SSH_CONNECTION TMUX TERM_PROGRAM VSCODE_IPC_HOOK WSL_DISTRO_NAME _
		CI GITHUB_ACTIONS GITHUB_TOKEN GITHUB_API_URL RUNNER_TEMP ACTIONS_RUNTIME_TOKEN CI_JOB_TOKEN CI_REGISTRY_USER BUILD_NUMBER JENKINS_URL NODE_NAME WORKSPACE JOB_NAME EXECUTOR_NUMBER
		KUBERNETES_SERVICE_HOST KUBERNETES_PORT KUBERNETES_PORT_443_TCP_ADDR REDIS_SERVICE_HOST REDIS_SERVICE_PORT REDIS_PORT REDIS_PORT_6379_TCP REDIS_PORT_6379_TCP_PROTO HOSTNAME POD_NAME API_PORT API_SERVICE_HOST WORKERS_PORT
		RINGBACK_SERVICE_HOST RINGBACK_SERVICE_PORT RINGBACK_SERVICE_PORT_HTTP RINGBACK_PORT RINGBACK_PORT_3001_TCP RINGBACK_PORT_3001_TCP_PORT RINGBACK_PORT_3001_UDP_ADDR RINGBACK_REDIS_SERVICE_HOST
		RINGBACK_API_KEYS_SERVICE_HOST RINGBACK_WORKERS_PORT RINGBACK_USER_PORT_80_TCP
		INVOCATION_ID JOURNAL_STREAM SYSTEMD_EXEC_PID LISTEN_PID LISTEN_FDS LISTEN_FDNAMES NOTIFY_SOCKET WATCHDOG_USEC STATE_DIRECTORY LOGS_DIRECTORY CONFIGURATION_DIRECTORY
		DOCKER_HOST COMPOSE_PROJECT_NAME container GODEBUG GOMAXPROCS GOMEMLIMIT npm_config_loglevel npm_config_user_agent npm_lifecycle_event INIT_CWD NODE NODE_ENV NODE_OPTIONS NODE_VERSION
		REDIS_VERSION REDIS_TLS_URL REDIS_HOST REDIS_PASSWORD REDIS_USER REDIS_DB REDISCLI_AUTH REDISCLOUD_URL DATABASE_URL DATABASE_DIR PORT HOST BASE_URL JWT_SECRET_KEY JWT_ISSUER SMTP_HOST SLACK_TOKEN TOKEN URL
		WEB_CONCURRENCY MAX_WORKERS GUNICORN_WORKERS WORKER_ID JEST_WORKER_ID CALLBACK_URL LOG_FILE LOG_DIR DATA_PATH IS_SANDBOX OLD WORK WORKDIR CLAUDECODE CLAUDE_CODE_ENTRYPOINT CLAUDE_MODEL CLAUDE_PROJECT_DIR
		API_URL API_TOKEN OPENAI_API_KEY STRIPE_WEBHOOK_SECRET`) {
		environment = append(environment, name+"=x")
	}
	c, err := loadWith(t, environment, "")
	must.OK(t, err, "variables of other programs are refused:")
	misspelt, others := c.Unread(nothingElse)
	must.Equal(t, []string(nil), append(misspelt, others...), "said of other programs' variables")
}

func TestWhatRingbackItselfSetsIsNotMentioned(t *testing.T) {
	t.Parallel()
	c := must.Get(loadWith(t, []string{"RINGBACK_PROCESS=x", "RINGBACK_REQUEST_ID=x", "RINGBACK_KIND_DIR=/x", "DEPLOY_API_KEY=x", "API_KEY=x"}, "FOO=1\nDEPLOY_TOKEN=x\n"))(t)
	misspelt, others := c.Unread(func(name string) bool { return name == "API_KEY" || name == "DEPLOY_TOKEN" })
	must.Equal(t, 0, len(misspelt), "warnings in a job, and of what an action uses", misspelt)
	must.Equal(t, []string{"FOO"}, others, "what a .env file sets in vain")
}

func TestAVariableThatIsSetTwiceIsRefusedWithBothLines(t *testing.T) {
	t.Parallel()
	for text, says := range map[string]string{
		"WORKERS=2\nHOLD=1s\nWORKERS=3\n":                "WORKERS is set in line 1 and again in line 3",
		"# one\n\nexport HOLD=1s\nHOLD: 2s\n":            "HOLD is set in line 3 and again in line 4",
		"A='one\ntwo'\nWORKERS=1\nB=\"x\ny\"\nWORKERS=1": "WORKERS is set in line 3 and again in line 6",
		"FOO=1\r\nFOO=1\r\n":                             "FOO is set in line 1 and again in line 2",
	} {
		_, err := loadWith(t, nil, text)
		must.Fail(t, err, says, text)
	}
	_, err := loadWith(t, []string{"WORKERS=5"}, "WORKERS=2\n#WORKERS=3\nA='\nWORKERS=4'\n")
	must.OK(t, err, "a comment and a part of a value count:")
}

// A misspelt key may be why an address is refused.
func TestAnErrorMentionsMisspeltVariables(t *testing.T) {
	t.Parallel()
	_, err := loadWith(t, []string{"LISTEN_ADDR=0.0.0.0:3001", "API_KEY=0f1e2d3c4b5a6978"}, "")
	must.Fail(t, err, "API_KEY is not a setting, so it has no effect: did you mean API_KEYS?")
}

func TestASettingOfALaterVersionIsNoneOfThisOne(t *testing.T) {
	t.Parallel()
	for _, name := range planned {
		must.NotContain(t, strings.Join(Variables(), " "), name, "it is a setting now: take it from the list")
	}
}

func TestASecretThatCannotBeUsedIsRefused(t *testing.T) {
	t.Parallel()
	const good = "0f1e2d3c4b5a69788796a5b4c3d2e1f0"
	for entry, says := range map[string]string{
		"API_KEYS=" + good + " x": "API_KEYS, key 1: it contains a space", "API_KEYS=" + good + ", " + good + "1": "API_KEYS, key 2: it contains a space",
		"API_KEYS=" + good + "\n": "API_KEYS, key 1", "API_KEYS=" + good + "é": "API_KEYS, key 1", "API_KEYS=" + good + "\x7f": "API_KEYS, key 1", "API_KEYS=" + good + ",": "API_KEYS, key 2: expected at least 16",
		"API_KEYS=a,b\t" + good: "API_KEYS, key 2", "API_KEYS=" + good + "\xff": "API_KEYS, key 1", "API_KEYS=" + good + "\u200b": "API_KEYS, key 1",
		"JWT_SECRET=" + good + "\n": "JWT_SECRET: it begins or ends with white space", "JWT_SECRET= " + good: "JWT_SECRET: it begins", "JWT_SECRET=0123\r\n" + good: "JWT_SECRET: it begins",
		"SLACK_SIGNING_SECRET=" + good + "\n": "SLACK_SIGNING_SECRET: it begins", "WEBHOOK_SECRET=  ": "WEBHOOK_SECRET: it contains only white space", "INBOUND_WEBHOOK_SECRET=\n": "INBOUND_WEBHOOK_SECRET: it contains only",
		"WEBHOOK_SECRET=whsec_x!": "whsec_ must be followed by base64", "WEBHOOK_SECRET=whsec_": "whsec_ must be", "WEBHOOK_SECRET=whsec_-_KQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw": "whsec_ must be",
		"WEBHOOK_SECRET=v1,whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw": "with nothing before it", "WEBHOOK_SECRET=v1a,whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw": "with nothing before it", "WEBHOOK_SECRET='whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'": "no quotes",
		"WEBHOOK_SECRET=WHSEC_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw": "small letters", "WEBHOOK_SECRET=whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw,whsec_AfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw": "separated by a space",
		"INBOUND_WEBHOOK_SECRET=whsk_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw": "half of a key pair", "WEBHOOK_SECRET=" + good + " v1,whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw": "with nothing before it",
	} {
		_, err := loadWith(t, []string{entry}, "")
		must.Fail(t, err, says, entry)
		if err != nil && (strings.Contains(err.Error(), good) || strings.Contains(err.Error(), "MfKQ9r8GKYq")) {
			t.Errorf("%q: the message shows the secret: %v", entry, err)
		}
	}
	for _, entry := range []string{
		"API_KEYS=" + good + ",p@ss-w.o_r~d/1+2==!#$%&'()*;", "JWT_SECRET=a pass phrase of several words, which is long", "WEBHOOK_SECRET=any-text-at-all:ü", "WEBHOOK_SECRET=whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw whsec_AfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n",
	} {
		_, err := loadWith(t, []string{entry}, "")
		must.OK(t, err, entry)
	}
}
