package release

import (
	"debug/buildinfo"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"ringback/test/markdown"
	"ringback/test/must"
	"ringback/test/sample"
)

const repository = "../.."

var platforms = []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64"}

// native is the platform of the tests: what it needs is in the build cache.
const native = runtime.GOOS + "/" + runtime.GOARCH

// build releases the last commit of a clone for a platform, and returns the directory with the files.
func build(t *testing.T, clone string, env []string, platform string) string {
	t.Helper()
	out := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "bash", "-c", `umask "${UMASK:-022}"; exec scripts/release.sh`)
	cmd.Dir = clone
	cmd.Env = append(os.Environ(), append(env, "OUT="+out, "PLATFORMS="+platform)...)
	printed, err := cmd.CombinedOutput()
	must.OK(t, err, string(printed))
	return out
}

// unpacked unpacks the archive of a platform, and returns its directory.
func unpacked(t *testing.T, release, platform string) string {
	t.Helper()
	archive := one(t, release, "ringback_*_"+strings.ReplaceAll(platform, "/", "_")+".tar.gz")
	dir := t.TempDir()
	out, err := exec.Command("tar", "-xzf", archive, "-C", dir).CombinedOutput()
	must.OK(t, err, string(out))
	return filepath.Join(dir, strings.TrimSuffix(filepath.Base(archive), ".tar.gz"))
}

// one returns the only file of a directory that matches a pattern.
func one(t *testing.T, dir, pattern string) string {
	t.Helper()
	files := must.Get(filepath.Glob(filepath.Join(dir, pattern)))(t)
	if len(files) != 1 {
		t.Fatalf("%s: %d files match %s", dir, len(files), pattern)
	}
	return files[0]
}

func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	must.OK(t, err, name, strings.Join(args, " "), string(out))
	return string(out)
}

func TestRelease(t *testing.T) {
	t.Parallel()
	needsClone(t)
	sample.OneIn(t, 3)
	release := build(t, repository, nil, native)
	t.Run("has the same bytes when it is built elsewhere", func(t *testing.T) {
		t.Parallel()
		testSameBytes(t, release, native)
	})
	t.Run("holds what is needed", func(t *testing.T) { t.Parallel(); testArchive(t, release, native) })
	t.Run("can be installed as the documents describe", func(t *testing.T) { t.Parallel(); testInstallation(t, release) })
	t.Run("has a manual and completions that work", func(t *testing.T) { t.Parallel(); testManual(t, release) })
}

// Another platform is built from scratch, which takes a minute of processor time.
func TestReleaseForOtherPlatforms(t *testing.T) {
	t.Parallel()
	needsClone(t)
	sample.OneIn(t, 6)
	for _, platform := range sample.Of(t, 1, slices.DeleteFunc(slices.Clone(platforms), func(p string) bool { return p == native })) {
		t.Run(platform, func(t *testing.T) {
			release := build(t, repository, nil, platform)
			testArchive(t, release, platform)
			testSameBytes(t, release, platform)
		})
	}
}

// needsClone skips a test where no release can be built.
func needsClone(t *testing.T) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(repository, ".git")); err != nil || runtime.GOOS != "linux" {
		t.Skip("a release is built on Linux, from a clone")
	}
}

// testSameBytes builds again: in another directory with files that are not committed, as a user with other
// settings, in another place of the world.
func testSameBytes(t *testing.T, release, platform string) {
	t.Helper()
	clone := filepath.Join(t.TempDir(), "another directory")
	run(t, "git", "clone", "--quiet", "--shared", repository, clone)
	for file, text := range map[string]string{"README.md": "changed", "cmd/ringback/added.go": "package main\n\nfunc init() { panic(1) }\n"} {
		must.OK(t, os.WriteFile(filepath.Join(clone, file), []byte(text), 0o600))
	}
	home := t.TempDir()
	for file, text := range map[string]string{".gitconfig": "[core]\n\tautocrlf = true\n", ".config/go/env": "GOAMD64=v3\nGOFLAGS=-tags=other\n"} {
		must.OK(t, os.MkdirAll(filepath.Dir(filepath.Join(home, file)), 0o750))
		must.OK(t, os.WriteFile(filepath.Join(home, file), []byte(text), 0o600))
	}
	env := []string{
		"HOME=" + home, "UMASK=077", "TZ=Asia/Tokyo", "LANG=de_DE.UTF-8", "GOARM64=v9.0", "CGO_ENABLED=1", "GOFLAGS=-ldflags=-w",
		"SOURCE_DATE_EPOCH=1", "TAR_OPTIONS=--mode=a+rwx", "GZIP=-1", "RINGBACK_URL=http://example.com",
	}
	for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOPROXY", "GOSUMDB", "GOTOOLCHAIN"} {
		env = append(env, name+"="+strings.TrimSpace(run(t, "go", "env", name)))
	}
	if os.Getenv("TEST_SAMPLE") == "" && platform == native { // without a cache
		env = append(env, "GOCACHE="+t.TempDir())
	}
	again := build(t, clone, env, platform)
	sums := string(must.Get(os.ReadFile(filepath.Join(release, "SHA256SUMS")))(t))
	must.Equal(t, sums, string(must.Get(os.ReadFile(filepath.Join(again, "SHA256SUMS")))(t)))
	for _, dir := range []string{release, again} {
		check := exec.Command("sha256sum", "--check", "--strict", "SHA256SUMS")
		check.Dir = dir
		out, err := check.CombinedOutput()
		must.OK(t, err, string(out))
		must.Equal(t, strings.Count(sums, "\n"), len(must.Get(os.ReadDir(dir))(t))-1, "files without a checksum")
	}
}

func testArchive(t *testing.T, release, platform string) {
	t.Helper()
	dir := unpacked(t, release, platform)
	system, arch, _ := strings.Cut(platform, "/")
	for _, file := range []string{
		"CHANGELOG.md", "README.md", "completions/_ringback", "completions/ringback.bash", "completions/ringback.fish", "deploy/ringback.service",
		"docs/how-to/install.md", "man/ringback-run.1", "man/ringback.1", "ringback", "settings",
	} {
		if info, err := os.Stat(filepath.Join(dir, file)); err != nil || info.Size() == 0 || (info.Mode()&0o111 != 0) != (file == "ringback") {
			t.Errorf("%s: %v %v", file, info, err)
		}
	}
	info := must.Get(buildinfo.ReadFile(filepath.Join(dir, "ringback")))(t)
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	for key, want := range map[string]string{"GOOS": system, "GOARCH": arch, "CGO_ENABLED": "0", "-trimpath": "true", "vcs.modified": "false"} {
		must.Equal(t, want, settings[key], key)
	}
	must.Equal(t, "ringback_"+strings.TrimPrefix(info.Main.Version, "v")+"_"+system+"_"+arch, filepath.Base(dir))
	testModules(t, release, platform, info)
}

// testModules compares the list of modules of a platform with those that its program consists of.
func testModules(t *testing.T, release, platform string, info *buildinfo.BuildInfo) {
	t.Helper()
	var list struct {
		BomFormat, SpecVersion string
		Metadata               struct {
			Timestamp string
			Component struct{ Name, Version string }
		}
		Components []struct{ Name, Version, Purl string }
	}
	text := must.Get(os.ReadFile(one(t, release, "ringback_*_"+strings.ReplaceAll(platform, "/", "_")+".sbom.json")))(t)
	must.OK(t, json.Unmarshal(text, &list))
	want := map[string]string{"stdlib": strings.TrimPrefix(info.GoVersion, "go")}
	for _, m := range info.Deps {
		want[m.Path] = m.Version
	}
	got := map[string]string{}
	for _, c := range list.Components {
		got[c.Name] = c.Version
		must.Equal(t, "pkg:golang/"+c.Name+"@"+c.Version, c.Purl)
	}
	must.Equal(t, want, got)
	must.Equal(t, "ringback "+info.Main.Version, list.Metadata.Component.Name+" "+list.Metadata.Component.Version)
	must.Equal(t, "CycloneDX 1.6", list.BomFormat+" "+list.SpecVersion)
}

// testManual shows each page without a warning, and loads the completions in each shell that is there.
func testManual(t *testing.T, release string) {
	t.Helper()
	dir := unpacked(t, release, native)
	for _, page := range sample.Of(t, 8, must.Get(filepath.Glob(filepath.Join(dir, "man", "*.1")))(t)) {
		if _, err := exec.LookPath("man"); err != nil {
			break
		}
		cmd := exec.Command("man", "--warnings", "--local-file", page)
		cmd.Env = append(os.Environ(), "MANWIDTH=80", "LC_ALL=C.UTF-8")
		var warnings strings.Builder
		cmd.Stderr = &warnings
		shown := string(must.Get(cmd.Output())(t))
		must.Equal(t, "", warnings.String(), page)
		must.Contain(t, shown, "SYNOPSIS", page)
	}
	for shell, script := range map[string]string{
		"bash": `source "$1/ringback.bash" && complete -p ringback`,
		"zsh":  `fpath=("$1" $fpath) && autoload -U compinit && compinit -D && [[ $_comps[ringback] = _ringback ]]`,
		"fish": `source "$argv[1]/ringback.fish" && complete --do-complete "ringback "`,
	} {
		if _, err := exec.LookPath(shell); err != nil {
			continue
		}
		args := []string{"-c", script, shell, filepath.Join(dir, "completions")}
		if shell == "fish" {
			args = slices.Delete(args, 2, 3)
		}
		run(t, shell, args...)
	}
}

// testInstallation follows docs/how-to/install.md, whose text blocks are for root.
func testInstallation(t *testing.T, release string) {
	t.Helper()
	needsMachine(t)
	document := must.Get(markdown.Documents(repository))(t)[filepath.Join("docs", "how-to", "install.md")]
	typed := func(says string) string {
		for _, b := range document.Blocks {
			if strings.Contains(b.Text, says) {
				return b.Text
			}
		}
		t.Fatalf("docs/how-to/install.md has no block with %q", says)
		return ""
	}
	t.Run("from the archive", func(t *testing.T) {
		t.Parallel()
		shown := onMachine(t, release, typed("sha256sum")+typed("tar -xzf")+"cd / && which ringback && man --where ringback-run")
		must.Contain(t, shown, "/usr/local/bin/ringback\n")
		must.Contain(t, shown, "/man1/ringback-run.1\n")
	})
	t.Run("from the package", func(t *testing.T) {
		t.Parallel()
		testPackage(t, release, typed)
	})
}

// files lists what the package is responsible for, and calls what it had systemctl do.
const files = `
files() { stat --format '%A %U %n' /usr/bin/ringback /etc/ringback/ringback.env /var/lib/ringback 2>/dev/null || true; }
calls() { cat /release/systemctl; rm /release/systemctl; }
`

// testPackage installs the package, uses it, replaces it by another version, and removes it.
func testPackage(t *testing.T, release string, typed func(says string) string) {
	t.Helper()
	const (
		program  = "-rwxr-xr-x root /usr/bin/ringback\n"
		settings = "-rw------- root /etc/ringback/ringback.env\n"
		data     = "drwx------ ringback /var/lib/ringback\n"
		quietly  = "exec 3>&1 >&2\n"
		shown    = "exec >&3\n"
	)
	check := typed("ringback check")
	steps := []struct{ when, do, want string }{
		{"installed", quietly + typed("apt-get install") + shown + "files; dpkg --verify ringback", program + settings + data},
		{"not started by itself", "calls", "daemon-reload\ntry-restart ringback.service\n--quiet is-active ringback.service\n"},
		{"a unit that systemd can read", "! type systemd-analyze >&2 || systemd-analyze verify --man=no ringback.service 2>&1 | grep ringback || true", ""},
		{"a service with these settings", "grep -h ^EnvironmentFile /lib/systemd/system/ringback.service.d/*", "EnvironmentFile=/etc/ringback/ringback.env\n"},
		{"checked", quietly + check + shown, ""},
		{"checked with a wrong setting", "echo WORKERS=many >>/etc/ringback/ringback.env\nif (" + check + ") 2>&1; then echo accepted; fi | grep -o -e WORKERS -e accepted", "WORKERS\n"},
		{"started", "sed -i s/many/3/ /etc/ringback/ringback.env; touch /var/lib/ringback/job; " + typed("systemctl enable") + "calls", "enable --now ringback\n"},
		{"replaced by a version with other settings", quietly + `cd /release; dpkg-deb --raw-extract ringback_*.deb next
sed -i 's/^Version: .*/&+next/' next/DEBIAN/control; echo '#NEW=1' >>next/usr/share/doc/ringback/settings
dpkg-deb -Znone --build next next.deb; dpkg --install next.deb </dev/null
` + shown + "files; calls; grep WORKERS /etc/ringback/ringback.env", program + settings + data + "daemon-reload\ntry-restart ringback.service\nWORKERS=3\n"},
		{"removed", "dpkg --remove ringback >&2; files; calls", settings + data + "disable --now ringback.service\nkill --signal=KILL ringback.service\ndaemon-reload\n"},
		{"purged", "dpkg --purge ringback >&2; files; find /etc -name '*ringback*'; ls /var/lib/ringback", data + "job\n"},
		{"installed again", "dpkg --install next.deb >&2; files", program + settings + data},
	}
	script := []string{files}
	for _, step := range steps {
		script = append(script, step.do, `printf '\0'`)
	}
	outputs := strings.Split(onMachine(t, release, strings.Join(script, "\n")), "\x00")
	must.Equal(t, len(steps)+1, len(outputs), "steps")
	for i, step := range steps {
		must.Equal(t, step.want, outputs[i], step.when)
	}
}
