// Package config reads the environment. It is the only package that does.
//
// A variable is a field of Config with its name, its default and, if not every value is
// valid, a line in validate, which reports all errors at once. Add new variables to
// .env.example as well, which the tables of docs/configuration.md are generated from; tests
// check that they match. LoadServer also reads a file .env; the environment takes
// precedence over it. LogValue keeps secrets out of logs.
package config

//go:generate go test -vet=off . -run TestTheReferenceOfSettingsIsUpToDate -update

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/caarlos0/env/v11"

	"ringback/internal/outbound"
	"ringback/internal/web/apikey"
)

// Config contains all settings. .env.example explains each variable.
type Config struct {
	ListenAddr string `env:"LISTEN_ADDR" envDefault:"127.0.0.1:3001"`
	// CallbackListenAddr is the address of the callbacks' own listener; if it is empty or
	// the same as ListenAddr, callbacks are served there.
	CallbackListenAddr string `env:"CALLBACK_LISTEN_ADDR"`
	CallbackBaseURL    string `env:"CALLBACK_BASE_URL"` // empty: localhost, at the callback listener's port
	// OperatorListenAddr is the address of the operators' own listener; empty for none.
	OperatorListenAddr string        `env:"OPERATOR_LISTEN_ADDR"`
	OperatorRemote     bool          `env:"OPERATOR_REMOTE"`
	PublicURL          string        `env:"PUBLIC_URL"`
	RedisURL           string        `env:"REDIS_URL" secret:"true"`
	RedisWait          int           `env:"REDIS_WAIT"` // replicas
	RedisWaitTimeout   time.Duration `env:"REDIS_WAIT_TIMEOUT" envDefault:"1s"`
	ClaudeBin          string        `env:"CLAUDE_BIN" envDefault:"claude"`
	ClaudeArgs         string        `env:"CLAUDE_ARGS"`
	FallbackModel      string        `env:"CLAUDE_FALLBACK_MODEL"`
	PricesFile         string        `env:"PRICES_FILE"` // empty: the embedded table
	// BudgetPerDay is the daily (UTC) budget of all jobs together, and BudgetPerUserPerDay
	// that of each user, in US dollars; 0: no limit.
	BudgetPerDay        float64 `env:"BUDGET_USD_PER_DAY" envDefault:"0"`
	BudgetPerUserPerDay float64 `env:"BUDGET_USD_PER_USER_PER_DAY" envDefault:"0"`
	// JobsPerUserAtOnce is the maximum number of jobs of one user that have started and not
	// ended, and JobsPerUserPerDay of jobs created on a day (UTC); 0: no limit.
	JobsPerUserAtOnce int           `env:"JOBS_PER_USER_AT_ONCE" envDefault:"0"`
	JobsPerUserPerDay int           `env:"JOBS_PER_USER_PER_DAY" envDefault:"0"`
	CallbackTimeout   time.Duration `env:"CALLBACK_TIMEOUT" envDefault:"5m"`
	HumanTimeout      time.Duration `env:"HUMAN_TIMEOUT" envDefault:"24h"`
	Hold              time.Duration `env:"HOLD" envDefault:"45s"`
	ApprovalTimeout   time.Duration `env:"APPROVAL_TIMEOUT" envDefault:"1h"`
	NLConfidence      float64       `env:"NL_CONFIDENCE" envDefault:"0.9"`
	Retention         time.Duration `env:"RETENTION" envDefault:"168h"`
	RetryBackoff      time.Duration `env:"RETRY_BACKOFF" envDefault:"2s"`
	NodeTimeout       time.Duration `env:"NODE_TIMEOUT" envDefault:"30s"`
	Workers           int           `env:"WORKERS"`    // 0: twice the CPUs
	UserLimit         int           `env:"USER_LIMIT"` // 0: one less than WORKERS
	UseCallback       bool          `env:"USE_CALLBACK_CLAUDE" envDefault:"true"`
	CallbackStrict    *bool         `env:"CALLBACK_STRICT"` // nil: see Strict
	CallbackRate      float64       `env:"CALLBACK_RATE" envDefault:"1000"`
	PromptsDir        string        `env:"PROMPTS_DIR"`
	SchemasDir        string        `env:"SCHEMAS_DIR"`
	DataDir           string        `env:"DATA_DIR" envDefault:"./data"`
	// ConversationLimit and ChangeLimit limit the compressed size of each copy that is
	// stored for other machines; MirrorsLimit limits the mirrors of repositories in
	// DataDir.
	ConversationLimit Size          `env:"CONVERSATION_LIMIT" envDefault:"1MiB"`
	ChangeLimit       Size          `env:"CHANGE_LIMIT" envDefault:"16MiB"`
	MirrorsLimit      Size          `env:"MIRRORS_LIMIT" envDefault:"20GiB"`
	WebSockets        int           `env:"WEBSOCKETS"`             // 0: as many as file descriptors allow
	WebSocketsPerUser int           `env:"WEBSOCKETS_PER_USER"`    // 0: half of the node's
	WebSocketsPerAddr int           `env:"WEBSOCKETS_PER_ADDRESS"` // 0: three quarters of the node's
	APIKeys           []string      `env:"API_KEYS"`               // LoadFrom moves them to Keys, as digests
	APIKeysFile       string        `env:"API_KEYS_FILE"`
	JWTSecret         string        `env:"JWT_SECRET" secret:"true"`
	TokenMaxAge       time.Duration `env:"TOKEN_MAX_AGE" envDefault:"24h"`
	TrustedProxies    []string      `env:"TRUSTED_PROXIES"`
	CORSOrigins       []string      `env:"CORS_ORIGINS"`
	AllowedHosts      []string      `env:"ALLOWED_HOSTS"`
	WebhookURL        string        `env:"WEBHOOK_URL" secret:"true"`
	WebhookSecret     string        `env:"WEBHOOK_SECRET" secret:"true"`
	InboundSecret     string        `env:"INBOUND_WEBHOOK_SECRET" secret:"true"`
	WebhookPrivate    bool          `env:"WEBHOOK_PRIVATE"`
	RepositoryPrivate bool          `env:"REPOSITORY_PRIVATE"`
	RepositoryPaths   []string      `env:"REPOSITORY_PATHS"`
	SlackURL          string        `env:"SLACK_WEBHOOK_URL" secret:"true"`
	SlackSecret       string        `env:"SLACK_SIGNING_SECRET" secret:"true"`
	Sandbox           Sandbox       `env:"SANDBOX" envDefault:"auto"`
	SandboxReadable   []string      `env:"SANDBOX_READABLE"`
	LogLevel          slog.Level    `env:"LOG_LEVEL" envDefault:"INFO"`
	LogFormat         string        `env:"LOG_FORMAT" envDefault:"auto"`

	Client
	Simulation

	// Keys contains the digests of API_KEYS, named by their position.
	Keys []apikey.Key `env:"-"`
	// EnvFile is the .env file that was read, and EnvFileNames the variables in it; empty
	// if there is none.
	EnvFile string `env:"-"`
	// EnvPlace is where a starting server looks for that file, whether or not there is one.
	EnvPlace     string   `env:"-"`
	EnvFileNames []string `env:"-"`
	// SecretFiles are the files that secrets were read from.
	SecretFiles []string `env:"-"`
	// Environ contains all variables, including those of EnvFile and unknown ones. The
	// environments of jobs' processes are picked from it.
	Environ []string `env:"-"`
}

// Sandbox determines whether what runs for jobs is confined.
type Sandbox string

// The modes: if available, always, never.
const (
	SandboxAuto     Sandbox = "auto"
	SandboxRequired Sandbox = "require"
	SandboxOff      Sandbox = "off"
)

// Client contains the settings of the client commands.
type Client struct {
	ServerURL string `env:"RINGBACK_URL"`
	Token     string `env:"RINGBACK_TOKEN"`
	User      string `env:"RINGBACK_USER"`
	GitPager  string `env:"GIT_PAGER"`
	Pager     string `env:"PAGER"`
	Browser   string `env:"BROWSER"`
	// NoColor counts as set for any text that is not empty (no-color.org).
	NoColor string `env:"NO_COLOR"`
}

// Simulation contains the settings of the simulated Claude.
type Simulation struct {
	Simulate string        `env:"RINGBACK_SIMULATE" envDefault:"success"`
	Pace     time.Duration `env:"RINGBACK_SIMULATE_PACE" envDefault:"400ms"`
}

// LoadClient reads the settings of the client commands from the environment.
func LoadClient() (Client, error) { return read[Client](env.Options{}) }

// LoadSimulation reads the settings of the simulated Claude from the environment.
func LoadSimulation() (Simulation, error) { return read[Simulation](env.Options{}) }

// LoadFrom reads the settings from vars instead of the environment, and reports all errors
// at once.
func LoadFrom(vars map[string]string) (Config, error) {
	c, err := read[Config](env.Options{Environment: vars})
	if err != nil {
		return Config{}, err
	}
	if c.Workers == 0 {
		c.Workers = 2 * runtime.NumCPU()
	}
	if c.UserLimit == 0 {
		c.UserLimit = max(1, c.Workers-1) // always leaves one worker for other users
	}
	if _, isSet := vars[operatorListenAddr]; !isSet { // a default of the library would replace an empty text, too
		c.OperatorListenAddr = "127.0.0.1:9464"
	}
	if c.CallbackListenAddr == "" && c.CallbackBaseURL == "" && !IsLoopback(c.ListenAddr) {
		c.CallbackListenAddr = besideOnLoopback(c.ListenAddr)
	}
	if c.CallbackBaseURL == "" {
		c.CallbackBaseURL = defaultCallbackURL(cmp.Or(c.CallbackListenAddr, c.ListenAddr))
	}
	c.CallbackBaseURL, c.PublicURL = strings.TrimRight(c.CallbackBaseURL, "/"), strings.TrimRight(c.PublicURL, "/")
	err = errors.Join(c.resolvePaths(), c.validate())
	for i, key := range c.APIKeys {
		c.Keys = append(c.Keys, apikey.Of("API_KEYS/"+strconv.Itoa(i+1), key))
	}
	c.APIKeys = nil
	return c, err
}

// resolvePaths makes every path absolute, because the server starts processes in other
// directories than its own. A CLAUDE_BIN without a separator is a name to look up on PATH.
func (c *Config) resolvePaths() error {
	paths := []*string{&c.DataDir, &c.PromptsDir, &c.SchemasDir, &c.APIKeysFile, &c.PricesFile}
	if strings.ContainsRune(c.ClaudeBin, os.PathSeparator) {
		paths = append(paths, &c.ClaudeBin)
	}
	for _, path := range paths {
		if *path == "" {
			continue
		}
		absolute, err := filepath.Abs(*path)
		if err != nil {
			return fmt.Errorf("%q: the working directory is not known: %w", *path, err)
		}
		*path = absolute
	}
	return nil
}

// read fills in a struct and reports all errors at once.
func read[T any](options env.Options) (T, error) {
	c, err := env.ParseAsWithOptions[T](options)
	if err != nil {
		return c, readable(err)
	}
	return c, nil
}

// wanted describes the valid values of a variable, by its type.
var wanted = map[string]string{
	"int": "a whole number", "float64": "a number", "bool": "true or false",
	"time.Duration": "a duration, such as 90s or 5m", "config.Size": "a size, such as 512KiB or 4MiB (KiB, MiB, GiB, TiB), or 0",
	"slog.Level": "DEBUG, INFO, WARN or ERROR",
}

// readable drops the library's prefixes; the rest names the variable.
func readable(err error) error {
	var all env.AggregateError
	if !errors.As(err, &all) {
		return err
	}
	var faults []error
	for _, e := range all.Errors {
		if parse, ok := errors.AsType[env.ParseError](e); ok {
			faults = append(faults, fmt.Errorf("%s is not %s", variableOf(parse.Name), wanted[strings.TrimPrefix(parse.Type.String(), "*")]))
			continue
		}
		faults = append(faults, e)
	}
	return errors.Join(faults...)
}

// bound is what is wanted of a setting.
type bound struct {
	name  string
	value any
	ok    bool
	want  string
}

// bounds are those of the settings with a single value.
func (c Config) bounds() []bound {
	plainURL := func(text, not string) bool { return outbound.IsWebAddress(text) && !strings.ContainsAny(text, not) }
	isBudget := func(usd float64) bool { return usd >= 0 && usd <= 1_000_000 }
	isModel := func(name string) bool { return name == "" || name[0] != '-' && !strings.ContainsAny(name, " \t\n") }
	const budget = "0 (no limit) to 1000000"
	return []bound{
		{"LISTEN_ADDR", c.ListenAddr, isAddress(c.ListenAddr), "host:port, such as 127.0.0.1:3001"},
		{"CALLBACK_LISTEN_ADDR", c.CallbackListenAddr, !c.OwnCallbackListener() || isAddress(c.CallbackListenAddr), "host:port, such as 127.0.0.1:3002"},
		{
			"OPERATOR_LISTEN_ADDR", c.OperatorListenAddr, c.OperatorListenAddr == "" || isAddress(c.OperatorListenAddr),
			"host:port, such as 127.0.0.1:9464, or nothing",
		},
		{"CALLBACK_BASE_URL", c.CallbackBaseURL, plainURL(c.CallbackBaseURL, " '\"?#"), "http(s)://host:port without query"},
		{"PUBLIC_URL", c.PublicURL, c.PublicURL == "" || plainURL(c.PublicURL, " '\"?#<>|"), "http(s)://host, or with the path below which a proxy serves the console, without query"},
		{"CLAUDE_FALLBACK_MODEL", c.FallbackModel, isModel(c.FallbackModel), "the name of a model, such as sonnet"},
		{"REDIS_WAIT", c.RedisWait, c.RedisWait >= 0 && c.RedisWait <= 100, "0 to 100 replicas"},
		{"REDIS_WAIT_TIMEOUT", c.RedisWaitTimeout, c.RedisWaitTimeout >= 10*time.Millisecond && c.RedisWaitTimeout <= time.Minute, "10ms to 1m"},
		{"CALLBACK_TIMEOUT", c.CallbackTimeout, c.CallbackTimeout >= time.Second, "at least 1s"},
		{"HUMAN_TIMEOUT", c.HumanTimeout, c.HumanTimeout >= time.Second, "at least 1s"},
		{"HOLD", c.Hold, c.Hold >= 0 && c.Hold <= 5*time.Minute, "0 to 5m"},
		{"APPROVAL_TIMEOUT", c.ApprovalTimeout, c.ApprovalTimeout >= time.Second, "at least 1s"},
		{"NL_CONFIDENCE", c.NLConfidence, c.NLConfidence > 0 && c.NLConfidence <= 1, "more than 0, at most 1"},
		{"RETENTION", c.Retention, c.Retention >= c.HumanTimeout, fmt.Sprintf("at least HUMAN_TIMEOUT (%s), because a chat must outlive its questions", c.HumanTimeout)},
		{"RETRY_BACKOFF", c.RetryBackoff, c.RetryBackoff > 0, "more than 0"},
		{"NODE_TIMEOUT", c.NodeTimeout, c.NodeTimeout >= time.Second, "at least 1s"},
		{"BUDGET_USD_PER_DAY", c.BudgetPerDay, isBudget(c.BudgetPerDay), budget},
		{"BUDGET_USD_PER_USER_PER_DAY", c.BudgetPerUserPerDay, isBudget(c.BudgetPerUserPerDay), budget},
		{"JOBS_PER_USER_AT_ONCE", c.JobsPerUserAtOnce, c.JobsPerUserAtOnce >= 0, "0 (no limit) or more"},
		{"JOBS_PER_USER_PER_DAY", c.JobsPerUserPerDay, c.JobsPerUserPerDay >= 0, "0 (no limit) or more"},
		{"WORKERS", c.Workers, c.Workers > 0 && c.Workers <= 1024, "1 to 1024"},
		{"USER_LIMIT", c.UserLimit, c.UserLimit > 0, "1 or more"},
		{"CHANGE_LIMIT", c.ChangeLimit, c.ChangeLimit > 0, "a size, such as 16MiB: without a copy, no review could continue on another node"},
		{"WEBSOCKETS", c.WebSockets, c.WebSockets >= 0, "0 or more"},
		{"WEBSOCKETS_PER_USER", c.WebSocketsPerUser, c.WebSocketsPerUser >= 0, "0 or more"},
		{"WEBSOCKETS_PER_ADDRESS", c.WebSocketsPerAddr, c.WebSocketsPerAddr >= 0, "0 or more"},
		{"CALLBACK_RATE", c.CallbackRate, c.CallbackRate > 0, "more than 0 per second"},
		{"TOKEN_MAX_AGE", c.TokenMaxAge, c.TokenMaxAge >= time.Minute, "at least 1m"},
		{"SANDBOX", c.Sandbox, slices.Contains([]Sandbox{SandboxAuto, SandboxRequired, SandboxOff}, c.Sandbox), "auto, require or off"},
		{"LOG_FORMAT", c.LogFormat, slices.Contains([]string{"auto", "text", "json"}, c.LogFormat), "auto, text or json"},
	}
}

func (c Config) validate() error {
	var faults []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			faults = append(faults, fmt.Errorf(format, args...))
		}
	}
	each := func(list []string, isValid func(string) bool, format string) {
		for _, entry := range list {
			check(isValid(entry), format, entry)
		}
	}
	for _, b := range c.bounds() {
		verb := "%v"
		if reflect.TypeOf(b.value).Kind() == reflect.String {
			verb = "%q"
		}
		check(b.ok, "%s "+verb+": expected %s", b.name, b.value, b.want)
	}
	for word := range strings.FieldsSeq(c.ClaudeArgs) {
		check(strings.Count(word, `"`)%2 == 0 && strings.Count(word, "'")%2 == 0,
			"CLAUDE_ARGS: quotes have no effect: each word, such as %q, is a separate argument", word)
	}
	check(c.RedisWait == 0 || c.RedisURL != "",
		"REDIS_WAIT %d: the embedded Redis has no replicas; set REDIS_URL to one that has, or leave REDIS_WAIT out", c.RedisWait)
	// These may hold a secret.
	check(c.WebhookURL == "" || outbound.IsWebAddress(c.WebhookURL), "WEBHOOK_URL: expected an http or https URL")
	check(c.SlackURL == "" || outbound.IsWebAddress(c.SlackURL), "SLACK_WEBHOOK_URL: expected an http or https URL")
	each(c.CORSOrigins, isOrigin, "CORS_ORIGINS: %q is not an origin: expected scheme://host[:port] and nothing after it, such as https://app.example.com")
	each(c.TrustedProxies, isNetwork, "TRUSTED_PROXIES: %q is neither an address nor a network, such as 10.0.0.5 or 10.0.0.0/24")
	each(c.AllowedHosts, isHost, "ALLOWED_HOSTS: %q is not a host name: expected a name or an address without scheme and port, such as ringback.example.com")
	each(c.RepositoryPaths, filepath.IsAbs, "REPOSITORY_PATHS: %q is not an absolute path")
	each(c.SandboxReadable, filepath.IsAbs, "SANDBOX_READABLE: %q is not an absolute path")
	check(IsLoopback(c.OperatorListenAddr) || c.OperatorRemote,
		"OPERATOR_LISTEN_ADDR %s can be reached from other machines, and asks for no key: listen on 127.0.0.1, "+
			"or keep others away by a firewall or a network policy and set OPERATOR_REMOTE=true", c.OperatorListenAddr)
	faults = append(faults, c.checkSecrets()...)
	if c.Secured() {
		return errors.Join(faults...)
	}
	check(!slices.Contains(c.CORSOrigins, "*"),
		"CORS_ORIGINS: * would let every page in a browser on this machine run jobs, because neither API_KEYS, API_KEYS_FILE nor JWT_SECRET is set: list the origins")
	check(IsLoopback(c.ListenAddr),
		"LISTEN_ADDR %s can be reached from other machines, but neither API_KEYS, API_KEYS_FILE nor JWT_SECRET is set: "+
			"set one of them, or listen on 127.0.0.1", c.ListenAddr)
	const behindProxy = "%s means that others reach this server through a proxy, but neither API_KEYS, API_KEYS_FILE nor JWT_SECRET is set, so anyone could run jobs: " +
		"set one of them, or leave it out"
	check(len(c.TrustedProxies) == 0, behindProxy, "TRUSTED_PROXIES")
	check(len(c.AllowedHosts) == 0, behindProxy, "ALLOWED_HOSTS")
	return errors.Join(faults...)
}

// HasKeys reports whether back ends are authenticated by keys.
func (c Config) HasKeys() bool { return len(c.APIKeys)+len(c.Keys) > 0 || c.APIKeysFile != "" }

// Secured reports whether callers need a key or a token.
func (c Config) Secured() bool { return c.HasKeys() || c.JWTSecret != "" }

// Strict reports whether each callback needs a signature. Without CALLBACK_STRICT, it does if anything else
// keeps others away from the server or the jobs: keys, a listener of the callbacks' own, or a sandbox.
func (c Config) Strict(sandboxed bool) bool {
	if c.CallbackStrict != nil {
		return *c.CallbackStrict
	}
	return sandboxed || c.Secured() || c.OwnCallbackListener()
}

// isOrigin reports whether a text is *, or an origin as browsers send it: no path, not even a slash.
func isOrigin(text string) bool {
	u, err := url.Parse(text)
	return text == "*" ||
		err == nil && u.Scheme != "" && u.Host != "" && text == u.Scheme+"://"+u.Host && text == strings.ToLower(text)
}

// isAddress reports whether a text is host:port, with a port that exists.
func isAddress(text string) bool {
	_, port, err := net.SplitHostPort(text)
	if err == nil {
		_, err = net.LookupPort("tcp", port) //nolint:noctx // the names of ports are in a local table
	}
	return err == nil
}

func isNetwork(text string) bool {
	_, _, err := net.ParseCIDR(text)
	return err == nil || net.ParseIP(text) != nil
}

// isHost reports whether a text is a bare host name or address.
func isHost(text string) bool {
	if net.ParseIP(strings.Trim(text, "[]")) != nil {
		return true
	}
	return text != "" && strings.Trim(strings.ToLower(text), "abcdefghijklmnopqrstuvwxyz0123456789-_.") == ""
}

// Hosts returns the names that the server accepts as Host at one of its listen addresses,
// in addition to the names of its machine. restricted is false if it accepts any name:
// other machines can reach the address, and ALLOWED_HOSTS is empty.
func (c Config) Hosts(addr string) (names []string, restricted bool) {
	if !IsLoopback(addr) && len(c.AllowedHosts) == 0 {
		return nil, false
	}
	names = slices.Clone(c.AllowedHosts)
	if u, err := url.Parse(c.CallbackBaseURL); err == nil {
		names = append(names, u.Hostname())
	}
	return names, true
}

// IsLoopback reports whether only this machine can reach an address.
func IsLoopback(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return true // another check reports it
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Public reports whether other machines can reach the API.
func (c Config) Public() bool { return !IsLoopback(c.ListenAddr) }

const operatorListenAddr = "OPERATOR_LISTEN_ADDR"

// OperatorIsSet reports whether OperatorListenAddr was chosen. A server starts without its default.
func (c Config) OperatorIsSet() bool {
	return slices.ContainsFunc(c.Environ, func(entry string) bool { return strings.HasPrefix(entry, operatorListenAddr+"=") })
}

// OwnCallbackListener reports whether callbacks have their own listener, and are served
// only there.
func (c Config) OwnCallbackListener() bool {
	return c.CallbackListenAddr != "" && c.CallbackListenAddr != c.ListenAddr
}

// besideOnLoopback returns the address for callbacks when other machines can reach the API:
// on loopback, at the next port. It must be the same after a restart, because Claude's
// processes survive one.
func besideOnLoopback(listen string) string {
	_, port, _ := net.SplitHostPort(listen)
	n, err := strconv.Atoi(port)
	if err != nil || n == 0 || n == 65535 {
		return "127.0.0.1:0"
	}
	return "127.0.0.1:" + strconv.Itoa(n+1)
}

func defaultCallbackURL(listen string) string {
	_, port, _ := net.SplitHostPort(listen)
	if !isAddress(listen) { // another check reports it
		port = "3001"
	}
	return "http://localhost:" + port
}

// Claude is the CLI that runs the jobs.
type Claude struct {
	Bin string
	// Simulated is true if the simulated Claude runs because there is no CLI.
	Simulated bool
	// Problem describes why the configured CLI cannot be started; empty if it can.
	Problem string
}

// simulate is the value of CLAUDE_BIN that selects the simulated Claude.
const simulate = "simulate"

// CheckClaude returns an error if results would be made up without being asked for: with
// access secured, real users rely on them.
func (c Config) CheckClaude() error {
	if !c.Secured() || c.ClaudeBin == simulate || !c.FindClaude().Simulated {
		return nil
	}
	return fmt.Errorf("CLAUDE_BIN: no Claude CLI (%s) is on PATH, and with API_KEYS, API_KEYS_FILE or JWT_SECRET set, the simulated Claude is not used by default: "+
		"install the CLI, set CLAUDE_BIN to its path, or set CLAUDE_BIN=%s if made-up results are wanted", c.ClaudeBin, simulate)
}

// FindClaude looks for the CLI. If CLAUDE_BIN is a name that is not on PATH, there is no
// CLI and the simulated Claude runs. If it is a path, the file there must be executable;
// until it is, jobs wait.
func (c Config) FindClaude() Claude {
	if c.ClaudeBin == simulate {
		return Claude{Bin: c.ClaudeBin, Simulated: true}
	}
	bin, err := exec.LookPath(c.ClaudeBin)
	if err == nil {
		return Claude{Bin: bin}
	}
	if strings.ContainsRune(c.ClaudeBin, os.PathSeparator) {
		return Claude{Bin: c.ClaudeBin, Problem: fmt.Sprintf("CLAUDE_BIN %s cannot be run: %v", c.ClaudeBin, errors.Unwrap(err))}
	}
	return Claude{Bin: c.ClaudeBin, Simulated: true}
}

// LogValue keeps secrets out of logs.
func (c Config) LogValue() slog.Value {
	return slog.GroupValue(
		slog.String("listen", c.ListenAddr), slog.String("callbacks", c.CallbackBaseURL),
		slog.String("operators", c.OperatorListenAddr),
		slog.Int("workers", c.Workers), slog.Duration("callbackTimeout", c.CallbackTimeout),
		slog.String("apiKeysFile", c.APIKeysFile), slog.Bool("jwt", c.JWTSecret != ""),
	)
}
