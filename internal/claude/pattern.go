package claude

import (
	"fmt"
	"regexp"
	"strings"
	"text/template"
	"text/template/parse"

	"ringback/internal/lazy"
)

// A pattern is a template in reverse: a regular expression that matches everything that
// the template can write. It matches the template's literal text, captures each
// inserted value under the name that it has in the template, and treats conditional
// parts as optional. So the parser of a prompt follows changes to the template
// automatically.
//
// Values in a fence contain no backtick (see escapeFence). Values that share a line
// with other text contain no line break; others may contain anything. The number of
// blank lines does not matter.
type pattern struct {
	whole *regexp.Regexp
	// names are those of the values, by group number; a range counts as a value.
	names []string
	// items match, by the range's name, one round of a range followed by the rest of the
	// range.
	items map[string]*pattern
}

// values are the captured values of a template, or of one round of a range.
type values struct {
	// text is keyed by the value's name, such as ".Callback.RequestID". If a template
	// inserts a value several times, the last one counts.
	text map[string]string
	// lists are keyed by the range's name, such as ".Change.Repositories".
	lists map[string][]values
}

// restOfRange names the part after the first round of a range.
const restOfRange = "rest"

// newPattern builds the pattern of the named template.
func newPattern(t *template.Template, name string) *pattern {
	b := &patternBuilder{templates: t, items: map[string]*pattern{}, names: []string{""}}
	b.list(t.Lookup(name).Root, "")
	return b.pattern()
}

// read returns the values in a text, or false if the template did not write it.
func (p *pattern) read(text string) (v values, ok bool) {
	text += trimmed
	groups := p.whole.FindStringSubmatchIndex(text)
	if groups == nil {
		return v, false
	}
	v = values{text: map[string]string{}, lists: map[string][]values{}}
	for i, name := range p.names {
		if i == 0 || groups[2*i] < 0 {
			continue
		}
		captured := text[groups[2*i]:groups[2*i+1]]
		if item := p.items[name]; item != nil {
			v.lists[name] = item.readAll(captured)
			continue
		}
		v.text[name] = captured
	}
	return v, true
}

// trimmed is more line breaks than are ever trimmed from the end of a text.
const trimmed = "\n\n\n\n\n\n\n\n"

// readAll reads the rounds of a range.
func (p *pattern) readAll(text string) (all []values) {
	for text != "" {
		v, ok := p.read(text)
		if !ok || len(v.text[restOfRange]) >= len(text) {
			break
		}
		all = append(all, v)
		text = v.text[restOfRange]
	}
	return all
}

// patternBuilder writes the regular expression of a template.
type patternBuilder struct {
	templates *template.Template
	out       strings.Builder
	names     []string
	items     map[string]*pattern
	// plain suppresses capturing: the rounds of a range are read one by one.
	plain bool
}

func (b *patternBuilder) pattern() *pattern {
	return &pattern{whole: regexp.MustCompile(`\A\s*` + b.out.String() + `\s*\z`), names: b.names, items: b.items}
}

// list writes nodes; dot is the value of "." there.
func (b *patternBuilder) list(nodes *parse.ListNode, dot string) {
	if nodes == nil {
		return
	}
	for i, n := range nodes.Nodes {
		switch n := n.(type) {
		case *parse.TextNode:
			b.literal(string(n.Text))
		case *parse.ActionNode:
			b.capture(nameOf(n.Pipe, dot), valueClass(textAt(nodes, i-1), textAt(nodes, i+1)))
		case *parse.IfNode:
			b.either(n.List, n.ElseList, dot, dot)
		case *parse.WithNode:
			b.either(n.List, n.ElseList, nameOf(n.Pipe, dot), dot)
		case *parse.RangeNode:
			b.repeated(n, dot)
		case *parse.TemplateNode:
			b.list(b.templates.Lookup(n.Name).Root, dot)
		case *parse.CommentNode:
		default:
			panic(fmt.Sprintf("the prompt's template holds a %T, which cannot be read backwards", n))
		}
	}
}

// either writes the body of a condition, or that of its else.
func (b *patternBuilder) either(yes, no *parse.ListNode, dot, otherwise string) {
	b.out.WriteString("(?:")
	b.list(yes, dot)
	b.out.WriteString("|")
	b.list(no, otherwise)
	b.out.WriteString(")")
}

// repeated writes a range as one group; its rounds get their own pattern.
func (b *patternBuilder) repeated(n *parse.RangeNode, dot string) {
	round := &patternBuilder{templates: b.templates, plain: true}
	round.list(n.List, "")
	rounds := "(?:" + round.out.String() + ")*?"
	name := nameOf(n.Pipe, dot)
	if b.plain {
		b.out.WriteString(rounds)
		return
	}
	b.capture(name, rounds)
	one := &patternBuilder{templates: b.templates, items: map[string]*pattern{}, names: []string{""}}
	one.list(n.List, "")
	one.capture(restOfRange, rounds)
	b.items[name] = one.pattern()
}

func (b *patternBuilder) capture(name, class string) {
	if b.plain {
		b.out.WriteString("(?:" + class + ")")
		return
	}
	b.out.WriteString("(" + class + ")")
	b.names = append(b.names, name)
}

// space separates lines.
var space = lazy.Regexp(`\s*\n\s*`)

// literal writes the template's own text. The line breaks next to a fenced value must
// match exactly; elsewhere there may be more of them.
func (b *patternBuilder) literal(text string) {
	text, closes := cutFence(text, strings.CutPrefix, "\n```")
	text, opens := cutFence(text, strings.CutSuffix, openedFences...)
	words := space().Split(text, -1)
	for i := range words {
		words[i] = regexp.QuoteMeta(words[i])
	}
	b.out.WriteString(regexp.QuoteMeta(closes) + strings.Join(words, `\s*\n\s*`) + regexp.QuoteMeta(opens))
}

// openedFences are the texts that open a fence before a value.
var openedFences = []string{"```\n", "```json\n"}

// cutFence cuts one of the fences off a text.
func cutFence(text string, cut func(text, fence string) (string, bool), fences ...string) (rest, fence string) {
	for _, fence := range fences {
		if rest, found := cut(text, fence); found {
			return rest, fence
		}
	}
	return text, ""
}

// valueClass returns the expression for a value between these texts.
func valueClass(before, after string) string {
	if _, fence := cutFence(before, strings.CutSuffix, openedFences...); fence != "" {
		return "[^`]*"
	}
	if (before == "" || strings.HasSuffix(before, "\n")) && (after == "" || strings.HasPrefix(after, "\n")) {
		return `(?s:.*?)` // it has its lines to itself
	}
	return `[^\n]*?`
}

// nameOf returns the full name of a pipeline, including the value of dot in the enclosing
// with.
func nameOf(pipe *parse.PipeNode, dot string) string {
	if name := pipe.String(); !strings.HasPrefix(name, "$") {
		return dot + name
	}
	return pipe.String()
}

// textAt returns the literal text of a node; empty for other nodes.
func textAt(nodes *parse.ListNode, i int) string {
	if i < 0 || i >= len(nodes.Nodes) {
		return ""
	}
	text, ok := nodes.Nodes[i].(*parse.TextNode)
	if !ok {
		return ""
	}
	return string(text.Text)
}
