package syntax

import (
	"strings"
	"testing"

	"ringback/test/must"
)

// marked shows the classes of a line: c{comment}, s{string}, n{number}, k{keyword}, f{name}.
func marked(l *Language, line string) string {
	var out strings.Builder
	for class, text := range l.Split(line) {
		if class == Plain {
			out.WriteString(text)
		} else {
			out.WriteString(string(" csnkf"[class]) + "{" + text + "}")
		}
	}
	return out.String()
}

func TestSplit(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ file, line, want string }{
		{"a/main.go", `func (s *Store) Get(id string) error { // x`, `k{func} (s *Store) f{Get}(id k{string}) k{error} { c{// x}`},
		{"main.go", "type Foo struct{ r rune } /* a */ var x = 'y' + 0x1F + \"\\\"//\" + `a`", "k{type} f{Foo} k{struct}{ r k{rune} } c{/* a */} k{var} x = s{'y'} + n{0x1F} + s{\"\\\"//\"} + s{`a`}"},
		{"main.go", `	x.type.String() /* goes on`, `	x.type.f{String}() c{/* goes on}`},
		{"go.mod", `require golang.org/x/sys v0.49.0 // indirect`, `k{require} golang.org/x/sys v0.49.0 c{// indirect}`},
		{"a.tsx", "const a = <p>don't</p>; if (/\"[/]/g.test(b)) return a / b / 2.5e-3;", "k{const} a = <p>don't</p>; k{if} (s{/\"[/]/g}.f{test}(b)) k{return} a / b / n{2.5e-3};"},
		{"a.js", "export class Job extends Base { run() { return `a ${b}`; } }", "k{export} k{class} f{Job} k{extends} Base { f{run}() { k{return} s{`a ${b}`}; } }"},
		{"a.py", `def run(self, n=1_000): return f"it's" # why`, `k{def} f{run}(self, n=n{1_000}): k{return} fs{"it's"} c{# why}`},
		{"a.rs", `fn f<'a>(x: &'a str) -> char { 'x' }`, `k{fn} f{f}<'a>(x: &'a k{str}) -> k{char} { s{'x'} }`},
		{"a.c", `#include <a.h>`, `k{#include} <a.h>`},
		{"a.java", `public class A extends B { @Override int n = list.size(); }`, `k{public} k{class} f{A} k{extends} B { @Override k{int} n = list.f{size}(); }`},
		{"a.sql", `SELECT count(*) FROM "t" WHERE a = 'it''s' -- all`, `k{SELECT} f{count}(*) k{FROM} s{"t"} k{WHERE} a = s{'it'}s{'s'} c{-- all}`},
		{"a.sh", `if [ "$a" = 'b#c' ]; then echo a#b # c`, `k{if} [ s{"$a"} = s{'b#c'} ]; k{then} echo a#b c{# c}`},
		{"package.json", `  "a": "b", "c": [1.5, true, null]`, `  f{"a"}: s{"b"}, f{"c"}: [n{1.5}, k{true}, k{null}]`},
		{".github/ci.yml", `- on: http://a:80 # it's`, `- f{on}: http://a:n{80} c{# it's}`},
		{"a.yaml", `name: don't say 'x', true`, `f{name}: don't say s{'x'}, k{true}`},
		{"a.toml", `a-b = "c" # d`, `f{a-b} = s{"c"} c{# d}`},
		{"a.css", `@media print { a:hover { color: #fff; margin: 1.5rem } } /* x */`, `k{@media} k{print} { f{a}:hover { f{color}: #fff; f{margin}: n{1.5rem} } } c{/* x */}`},
		{"a.html", `<!-- a --><a href="/x" hidden>don't</a> & more`, `c{<!-- a -->}f{<a} f{href}=s{"/x"} f{hidden}f{>}don'tf{</a}f{>} & more`},
		{"Makefile", `build: deps ## it's`, `f{build}: deps c{## it's}`},
		{"Dockerfile.dev", `FROM golang:1.26 AS build`, `k{FROM} golang:n{1.26} k{AS} build`},
		{"main.tf", `resource "aws_vpc" "a" { enabled = true == false }`, `k{resource} s{"aws_vpc"} s{"a"} { f{enabled} = k{true} == k{false} }`},
		{"README.md", "a `b` it's", "a s{`b`} it's"},
		{"notes.txt", `func main() // nothing`, `func main() // nothing`},
	} {
		must.Equal(t, tc.want, marked(Of(tc.file), tc.line), tc.file)
	}
}

// For each language and any line, the parts of the line add up to it.
func FuzzSplit(f *testing.F) {
	f.Add("a.go", "x := \"a\\")
	f.Add("a.html", "<a b='")
	f.Add("a.js", "(/[/\\")
	f.Add("a.rs", "'\\'")
	f.Add("a.py", "\"\"\"a\xff\u00e4 1.")
	f.Fuzz(func(t *testing.T, _, line string) {
		for _, l := range byFile() {
			var got strings.Builder
			for _, text := range l.Split(line) {
				if text == "" {
					t.Fatalf("%q has an empty part", line)
				}
				got.WriteString(text)
			}
			if got.String() != line {
				t.Fatalf("%q is split into %q", line, got.String())
			}
		}
	})
}

func TestEachFileHasOneLanguage(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, l := range languages() {
		for file := range strings.FieldsSeq(l.files) {
			if seen[file] || file != strings.ToLower(file) {
				t.Errorf("%s is listed twice, or not in lower case", file)
			}
			seen[file] = true
		}
	}
}
