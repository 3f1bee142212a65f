package syntax

import (
	"path"
	"strings"
	"sync"
)

// Language describes a language to the scanner.
type Language struct {
	// files are file name extensions, with their dot, and whole names, in lower case.
	files string
	// comments begin comments that extend to the end of the line; blocks enclose comments.
	comments []string
	blocks   [][2]string
	// spaced is set if a comment must be at the start of a line or follow a blank.
	spaced   bool
	quotes   []quote
	keywords words
	// fold is set if keywords are case-insensitive.
	fold bool
	// directives are characters that make the word they begin a keyword.
	directives string
	// inWords are characters of words in addition to letters, digits and "_".
	inWords string
	// regexps is set if slashes enclose regular expressions.
	regexps bool
	// calls is set if a word before "(" is a function.
	calls bool
	// assigns are characters that make the word or string before them a key.
	assigns string
	// blockKeys is set if keys occur only at the start of a line.
	blockKeys bool
	// markup is set if the language has tags and attributes.
	markup bool
}

// quote encloses strings.
type quote struct {
	mark string
	// raw is set if a backslash is an ordinary character.
	raw bool
	// character is set if it encloses a single character.
	character bool
	// long is set if strings may span several lines.
	long bool
}

type words map[string]bool

func list(text string) words {
	found := words{}
	for word := range strings.FieldsSeq(text) {
		found[word] = true
	}
	return found
}

// declaring are the keywords that declare the next word as a name.
var declaring = list(`class struct interface enum trait type func fn fun function def defn defmodule module namespace
	package record object protocol impl extension message service rpc procedure sub table view model union typedef contract
	library mixin defp defmacro`)

// Of returns the language of a file by its name; nil if it is unknown.
func Of(file string) *Language {
	name := strings.ToLower(path.Base(file))
	known := byFile()
	if l := known[name]; l != nil {
		return l
	}
	if before, _, cut := strings.Cut(name, "."); cut && (before == "dockerfile" || before == "makefile") {
		return known[before]
	}
	for { // the longest ending: "tmpl.html" before "html"
		_, ending, found := strings.Cut(name, ".")
		if !found {
			return nil
		}
		if l := known["."+ending]; l != nil {
			return l
		}
		name = ending
	}
}

var byFile = sync.OnceValue(func() map[string]*Language {
	all := map[string]*Language{}
	for _, l := range languages() {
		for file := range strings.FieldsSeq(l.files) {
			all[file] = &l
		}
	}
	return all
})

var (
	slashes = []string{"//"}
	hash    = []string{"#"}
	stars   = [][2]string{{"/*", "*/"}}

	double    = quote{mark: `"`}
	single    = quote{mark: "'"}
	rawSingle = quote{mark: "'", raw: true}
	character = quote{mark: "'", character: true}
	backtick  = quote{mark: "`", long: true}
	rawTick   = quote{mark: "`", raw: true, long: true}
	triple    = quote{mark: `"""`, long: true}
	triples   = quote{mark: "'''", long: true}
)

// languages is the table. Similar languages share a row, without the keywords of one that are
// common names in another.
func languages() []Language {
	return []Language{
		{
			files: ".go", comments: slashes, blocks: stars, quotes: []quote{double, character, rawTick}, calls: true,
			keywords: list(`break case chan const continue default defer else fallthrough for func go goto if import interface
				map package range return select struct switch type var any bool byte comparable complex64 complex128 error float32
				float64 int int8 int16 int32 int64 rune string uint uint8 uint16 uint32 uint64 uintptr true false nil iota`),
		},
		{
			files: "go.mod go.work", comments: slashes, inWords: "-./",
			keywords: list("module go toolchain require replace exclude retract use tool ignore godebug"),
		},
		{
			files: ".js .mjs .cjs .jsx .ts .mts .cts .tsx", comments: slashes, blocks: stars,
			quotes: []quote{double, single, backtick}, calls: true, inWords: "$", regexps: true,
			keywords: list(`abstract any as asserts async await bigint boolean break case catch class const continue debugger
				declare default delete do else enum export extends false finally for from function get if implements import in infer
				instanceof interface is keyof let namespace never new null number object of override package private protected
				public readonly return satisfies set static string super switch symbol this throw true try type typeof undefined
				unique unknown using var void while with yield`),
		},
		{
			files:    ".json .jsonc .json5 .jsonl .ndjson .webmanifest .map .geojson .ipynb .babelrc .eslintrc .prettierrc",
			comments: slashes, blocks: stars, quotes: []quote{double}, assigns: ":", keywords: list("true false null"),
		},
		{
			files: ".py .pyi .pyw .bzl .bazel sconstruct", comments: hash, quotes: []quote{triple, triples, double, single}, calls: true,
			keywords: list(`False None True and as assert async await break case class continue def del elif else except finally
				for from global if import in is lambda match nonlocal not or pass raise return try type while with yield`),
		},
		{
			files: ".rb .rake .gemspec .ru gemfile rakefile vagrantfile podfile brewfile", comments: hash,
			quotes: []quote{double, single, backtick}, calls: true, inWords: "?!",
			keywords: list(`alias and begin break case class def defined? do else elsif end ensure extend false for if in include lambda loop module next nil not or
				prepend private proc protected public raise redo require require_relative rescue retry return self super then true
				undef unless until when while yield`),
		},
		{
			files: ".php .phtml", comments: []string{"//", "#"}, blocks: stars, quotes: []quote{double, single}, calls: true, inWords: "$",
			keywords: list(`abstract and array as break callable case catch class clone const continue declare default do echo
				else elseif empty enum extends false final finally fn for foreach function global if implements include include_once
				instanceof insteadof interface isset list match namespace new null or print private protected public readonly
				require require_once return self static switch throw trait true try unset use var while xor yield`),
		},
		{
			files:    ".java .groovy .gradle jenkinsfile .kt .kts .scala .sc .sbt .cs .csx .dart .sol",
			comments: slashes, blocks: stars, quotes: []quote{triple, triples, double, single}, calls: true, directives: "#",
			keywords: list(`abstract anonymous as assembly assert async await bool boolean break byte bytes bytes32 calldata
				case catch char class companion const constant constructor continue contract covariant crossinline decimal def
				default delete do double dynamic else enum explicit export extends extension extern external false final finally
				float for foreach forSome fun function goto if immutable implements implicit import in infix inline instanceof int
				int256 interface internal is late lateinit library lock long mapping match mixin modifier nameof namespace native
				new noinline null num object open operator override package params partial payable pragma private protected public
				readonly record ref rethrow return returns revert sbyte sealed short sizeof stackalloc static strictfp string
				String struct super suspend switch sync synchronized tailrec then this throw throws trait transient true try type
				typealias typedef typeof uint uint256 uint8 ulong unchecked unsafe ushort using val var vararg virtual void
				volatile when where while with yield`),
		},
		{
			files:    ".c .h .cc .cpp .cxx .c++ .hh .hpp .hxx .ino .cu .cuh .m .mm .glsl .vert .frag .hlsl .wgsl .swift .rs .zig .zon",
			comments: slashes, blocks: stars, quotes: []quote{triple, double, character}, calls: true, directives: "#@",
			keywords: list(`actor align alignas alignof allowzero and anyframe anytype as asm associatedtype async attribute
				auto await bool break callconv case catch char char16_t char32_t char8_t class co_await co_return co_yield
				comptime concept const const_cast consteval constexpr constinit continue crate decltype default defer deinit
				delete didSet do double dyn dynamic_cast else enum errdefer explicit export extension extern f32 f64 fallthrough
				false fileprivate final float fn for friend func goto guard i128 i16 i32 i64 i8 if impl import inline inout int
				int16_t int32_t int64_t int8_t internal is isize isolated let long loop macro_rules match mod move mut mutable
				mutating namespace new nil NO noalias noexcept noinline nonisolated nonmutating null NULL nullptr opaque operator
				or orelse override precedencegroup private protected protocol pub public ref register reinterpret_cast repeat
				requires restrict rethrows return Self self short signed size_t sizeof ssize_t static static_assert static_cast
				str struct subscript super switch template this thread_local threadlocal throw throws trait true try type
				typealias typedef typeid typename u128 u16 u32 u64 u8 uint16_t uint32_t uint64_t uint8_t undefined uniform union
				unowned unreachable unsafe unsigned use using usingnamespace usize var varying virtual void volatile wchar_t weak
				where while willSet YES yield`),
		},
		{
			files: ".lua .luau", comments: []string{"--"}, blocks: [][2]string{{"--[[", "]]"}}, quotes: []quote{double, single},
			calls: true,
			keywords: list(
				"and break do else elseif end false for function goto if in local nil not or repeat return then true until while",
			),
		},
		{
			files: ".pl .pm .t .psgi", comments: hash, quotes: []quote{double, single, backtick}, inWords: "$", spaced: true,
			keywords: list(`and cmp continue defined delete die do each else elsif eq eval exists for foreach ge given gt if keys
				last le local lt my ne next no not or our package print printf push qw redo ref require return say shift sub undef
				unless until use values wantarray warn when while xor`),
		},
		{
			files: ".r .jl", comments: hash, quotes: []quote{triple, double, single}, calls: true, inWords: ".!",
			keywords: list(`abstract baremodule begin break catch const continue do else elseif end export false FALSE finally
				for function global if import in Inf let local macro module mutable NA NaN next nothing NULL primitive quote repeat
				return struct true TRUE try type using where while`),
		},
		{
			files: ".hs .lhs .elm .purs", comments: []string{"--"}, blocks: [][2]string{{"{-", "-}"}}, quotes: []quote{double, character},
			keywords: list("as case class data default deriving do else exposing family forall foreign hiding if import in infix infixl infixr instance let module newtype of port qualified then type where"),
		},
		{
			files: ".ml .mli .fs .fsi .fsx", comments: slashes, blocks: [][2]string{{"(*", "*)"}},
			quotes: []quote{triple, double, character},
			keywords: list(`abstract and as assert async begin class constraint default do done downto else end exception
				external false for fun function functor if in include inherit initializer interface lazy let match member method
				module mutable namespace new nonrec object of open or override private public rec sig static struct task then to
				true try type use val virtual when while with yield`),
		},
		{
			files: ".ex .exs .eex .heex .erl .hrl", comments: []string{"#", "%"}, quotes: []quote{triple, double, single},
			calls: true, inWords: "?!", spaced: true,
			keywords: list(`after alias and begin case catch cond def defdelegate defexception defguard defimpl defmacro
				defmodule defp defprotocol defstruct do else end false fn for fun if import in nil not of or quote raise receive
				require rescue super throw true try unless unquote use when with`),
		},
		{
			files: ".clj .cljs .cljc .edn .lisp .cl .el .scm .ss .rkt", comments: []string{";"}, quotes: []quote{double},
			inWords: "-?!*+/<>=.:",
			keywords: list(`case cond def defmacro defmethod defmulti defn defn- defonce defparameter defprotocol defrecord deftype defun defvar define do doseq dotimes
				false fn for if if-let import lambda let let* letfn loop nil ns progn quote recur require set! setq throw true try unless when when-let when-not while`),
		},
		{
			files:    ".sh .bash .zsh .ksh .bats .envrc .bashrc .bash_profile .profile .zshrc .zshenv pkgbuild .ebuild .fish",
			comments: hash, spaced: true, quotes: []quote{double, rawSingle, backtick}, inWords: "-",
			keywords: list(`and begin break builtin case command continue declare do done elif else end esac eval exec exit
				export fi for function if in local not or readonly return select set shift source switch test then time trap
				typeset unset until while`),
		},
		{
			files: ".ps1 .psm1 .psd1", comments: hash, blocks: [][2]string{{"<#", "#>"}},
			quotes: []quote{{mark: `"`, raw: true}, rawSingle}, fold: true, inWords: "-$",
			keywords: list(`begin break catch class continue data do dynamicparam else elseif end enum exit filter finally for
				foreach from function if in param process return switch throw trap try until using while`),
		},
		{
			files: ".bat .cmd", comments: []string{"::", "rem ", "REM "}, spaced: true, quotes: []quote{{mark: `"`, raw: true}},
			fold: true,
			keywords: list(
				"call cd defined do echo else endlocal errorlevel exist exit for goto if in not off on pause set setlocal shift start",
			),
		},
		{
			files: ".sql .ddl .psql .pgsql .mysql", comments: []string{"--"}, blocks: stars,
			quotes: []quote{{mark: "'", raw: true}, {mark: `"`, raw: true}, {mark: "`", raw: true}}, fold: true, calls: true,
			keywords: list(`add all alter always and any as asc array begin between bigint binary blob boolean both by cascade case cast char character check collate
				column comment commit concurrently conflict constraint create cross current_date current_time current_timestamp
				cursor database date decimal declare
				default deferrable delete desc distinct do double drop each else elsif end enum escape except exclude execute exists
				explain extension false fetch
				first float for foreign from full function generated grant group having identity if ilike immutable in increment
				index inner insert instead int
				integer intersect interval into is join json jsonb key language last lateral left like limit lock loop materialized
				merge natural no not nothing
				notify null nulls numeric of off offset on only or order outer over partition plpgsql policy precision primary
				privileges procedure raise range
				real recursive references rename replace restrict return returning returns revoke right role rollback row rows
				schema select sequence serial
				set setof smallint some start table temp temporary text then time timestamp timestamptz to transaction trigger true
				truncate type union unique
				unlogged update using uuid vacuum values varchar varying view volatile when where window with without`),
		},
		{
			files:  ".html .htm .xhtml .vue .svelte .astro .xml .xsd .xsl .xslt .svg .rss .atom .plist .csproj .props .targets .resx .xaml .fxml .tmpl .gohtml .hbs .mustache .jinja .j2 .ejs .erb .twig .liquid",
			blocks: [][2]string{{"<!--", "-->"}}, quotes: []quote{{mark: `"`, raw: true}, {mark: "'", raw: true}}, markup: true,
		},
		{
			files: ".css .scss .sass .less .styl .pcss", comments: slashes, spaced: true, blocks: stars,
			quotes: []quote{double, single}, directives: "@", inWords: "-", assigns: ":",
			keywords: list("important from to and not only screen print"),
		},
		{
			files: ".yaml .yml .clang-format .clang-tidy .cff", comments: hash, spaced: true, quotes: []quote{double, rawSingle},
			inWords: "-./$", assigns: ":", blockKeys: true, keywords: list("true false null True False"),
		},
		{
			files:    ".toml pipfile cargo.lock poetry.lock uv.lock .ini .cfg .conf .properties .env .editorconfig .gitconfig .gitmodules .npmrc .service .socket .timer .desktop",
			comments: []string{"#", ";"}, spaced: true, quotes: []quote{triple, triples, double, rawSingle}, inWords: "-.",
			assigns:  "=",
			keywords: list(`false inf nan no off on true yes`),
		},
		{
			files: "makefile gnumakefile .mk .mak justfile", comments: hash, spaced: true, quotes: []quote{double, rawSingle},
			inWords: "-.", assigns: ":", blockKeys: true,
			keywords: list("define else endef endif export ifdef ifeq ifndef ifneq include override private undefine unexport vpath"),
		},
		{
			files:    "dockerfile containerfile .dockerfile cmakelists.txt .cmake",
			comments: hash, spaced: true, quotes: []quote{double, single}, calls: true,
			keywords: list(`ADD AND ARG AS CMD COPY DEFINED ENTRYPOINT ENV EXISTS EXPOSE FALSE FROM HEALTHCHECK INTERFACE LABEL
				MAINTAINER MATCHES NOT OFF ON ONBUILD OR PRIVATE PUBLIC REQUIRED RUN SHELL STOPSIGNAL STREQUAL TARGET TRUE USER
				VERSION VOLUME WORKDIR`),
		},
		{
			files:    ".tf .tfvars .hcl .nomad .nix",
			comments: []string{"#", "//"}, blocks: stars, quotes: []quote{double}, inWords: "-'", assigns: "=", calls: true,
			keywords: list(`assert data else endfor endif false for if import in inherit let locals module moved null or output
				provider rec resource terraform then true variable with`),
		},
		{
			files:    ".proto .thrift .fbs .capnp .graphql .graphqls .gql",
			comments: []string{"//", "#"}, blocks: stars, quotes: []quote{triple, double, single}, assigns: ":", directives: "@",
			keywords: list(`bool byte bytes const directive double edition enum exception extend extensions false fixed32
				fixed64 float fragment group i16 i32 i64 implements import input int32 int64 interface list map max message
				mutation namespace null oneof option optional package public repeatable repeated required reserved returns rpc
				scalar schema service sfixed32 sfixed64 sint32 sint64 stream string struct subscription syntax throws to true type
				typedef uint32 uint64 union void weak`),
		},
		{files: ".tex .sty .cls .bib", comments: []string{"%"}, directives: "\\"},
		{
			files: ".vim .vimrc", comments: []string{`" `}, spaced: true, quotes: []quote{rawSingle},
			keywords: list("augroup autocmd call command echo else elseif endfor endfunction endif endwhile execute for function if in let map nnoremap noremap return set syntax unlet vnoremap while"),
		},
		{
			files: ".md .markdown .mdx", blocks: [][2]string{{"<!--", "-->"}},
			quotes: []quote{{mark: "```", raw: true}, {mark: "`", raw: true}},
		},
	}
}
