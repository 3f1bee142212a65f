package console

import (
	"bytes"
	"errors"
	"html/template"
	"iter"
	"net/url"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"ringback/internal/text/excerpt"
	"ringback/internal/text/lazy"
)

// reader renders Markdown. goldmark escapes all text; safeNodes renders the nodes that could
// contain anything else. Links go to a page that shows their target (newLeave). A test compares the
// result with what a sanitizer allows.
var reader = sync.OnceValue(func() goldmark.Markdown {
	return goldmark.New(
		goldmark.WithParser(boundedParser()),
		goldmark.WithRendererOptions(renderer.WithNodeRenderers(
			util.Prioritized(safeNodes{}, 1),
			util.Prioritized(extension.NewTableHTMLRenderer(extension.WithTableCellAlignMethod(extension.TableCellAlignNone)), 2),
			util.Prioritized(extension.NewStrikethroughHTMLRenderer(), 2),
		)),
	)
})

// safeNodes renders the nodes that contain a URL or attributes. It links only to web and e-mail
// addresses, without a referrer, and shows the target after a link. It shows images, which would be
// loaded from elsewhere, as their text and URL, and leaves out titles and classes.
type safeNodes struct{}

func (safeNodes) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindImage, renderImage)
	r.Register(ast.KindLink, renderLink)
	r.Register(ast.KindAutoLink, renderAutoLink)
	r.Register(ast.KindFencedCodeBlock, renderCode)
}

func renderLink(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	destination := n.(*ast.Link).Destination
	open, closing := linkTags(util.URLEscape(destination, true))
	if entering {
		_, _ = w.WriteString(open)
	} else {
		_, _ = w.WriteString(closing + leadsTo(destination))
	}
	return ast.WalkContinue, nil
}

const mostOfAddress = 200

// leadsTo shows the target of a link, because its text may claim another.
func leadsTo(address []byte) string {
	return " (" + template.HTMLEscapeString(excerpt.Head(string(address), mostOfAddress)) + ")"
}

func renderImage(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		_, _ = w.WriteString("[image: ")
	} else {
		_, _ = w.WriteString(leadsTo(n.(*ast.Image).Destination) + "]")
	}
	return ast.WalkContinue, nil
}

func renderAutoLink(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	link := n.(*ast.AutoLink)
	if !entering {
		return ast.WalkContinue, nil
	}
	address := util.URLEscape(link.URL(source), false)
	if link.AutoLinkType == ast.AutoLinkEmail && !bytes.HasPrefix(bytes.ToLower(address), []byte("mailto:")) {
		address = append([]byte("mailto:"), address...)
	}
	open, closing := linkTags(address)
	_, _ = w.WriteString(open + template.HTMLEscapeString(string(link.Label(source))) + closing)
	return ast.WalkContinue, nil
}

// linkTags returns the tags around the text of a link; empty if the URL may not be linked to.
func linkTags(address []byte) (open, closing string) {
	u, err := url.Parse(strings.TrimSpace(string(address)))
	if err != nil {
		return "", ""
	}
	switch {
	case (u.Scheme == "http" || u.Scheme == "https") && u.Host != "":
		return `<a href="` + template.HTMLEscapeString(leavePath(u.String())) + `" ` + string(linkAttributes) + `>`, "</a>"
	case u.Scheme == "mailto":
		return `<a href="` + template.HTMLEscapeString(u.String()) + `" rel="nofollow noreferrer">`, "</a>"
	}
	return "", ""
}

func renderCode(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		_, _ = w.WriteString("</code></pre>\n")
		return ast.WalkContinue, nil
	}
	_, _ = w.WriteString("<pre><code>")
	lines := n.Lines()
	for i := range lines.Len() {
		line := lines.At(i)
		html.DefaultWriter.RawWrite(w, line.Value(source))
	}
	return ast.WalkContinue, nil
}

// focusable makes the parts that may scroll focusable, so that the keyboard can scroll them. A text contains
// no unescaped tag.
var focusable = strings.NewReplacer("<pre>", `<pre tabindex="0">`, "<table>", `<table tabindex="0">`)

func markdown(source string) template.HTML {
	if len(source) <= mostMarkdown {
		out := boundedBuffer{limit: mostExpansion*len(source) + leastHTML}
		if reader().Convert([]byte(source), &out) == nil {
			return escaped(focusable.Replace(out.String())) // by goldmark and safeNodes
		}
	}
	return `<p class="help">Shown as text: too long or too complex to be laid out.</p>` + asText(source)
}

func asText(text string) template.HTML {
	return escaped(`<pre class="plain" tabindex="0">` + template.HTMLEscapeString(text) + `</pre>`)
}

// escaped marks HTML in which all text by others is escaped.
func escaped(html string) template.HTML { return template.HTML(html) } //nolint:gosec // see its callers

// gist returns the first sentence of a Markdown text, without its markup, or the whole first block
// if no sentence ends within it.
func gist(source string) string {
	for _, words := range blocksOf(source) {
		if end := sentenceEnd().FindStringIndex(words); end != nil {
			return words[:end[0]+1]
		} else if words != "" {
			return words
		}
	}
	return strings.TrimSpace(source)
}

// blocksOf returns the blocks of a Markdown text, with their words without markup.
func blocksOf(source string) iter.Seq2[ast.Node, string] {
	return func(yield func(ast.Node, string) bool) {
		n := boundedParser().Parse(text.NewReader([]byte(source))).FirstChild()
		for ; n != nil && yield(n, strings.Join(strings.Fields(wordsOf(n, []byte(source))), " ")); n = n.NextSibling() {
		}
	}
}

// reviewGist returns the question of a review in two parts: what Claude reports about its change,
// and what Ringback has found in it. Only whole paragraphs are left out, because the name of a file can
// contain the words of any of them.
func reviewGist(source string) (said, found string) {
	for n, words := range blocksOf(source) {
		fence, isFence := n.(*ast.FencedCodeBlock)
		switch {
		case isFence && said == "":
			said = gist(string(fence.Lines().Value([]byte(source))))
		case words == "Diff summary:", words == "Updated changes:": // after the introduction
			found = ""
		case words == "Claude's summary:", n.NextSibling() == nil && strings.HasPrefix(words, "Reply: approve, reject"):
		default:
			found += " " + words
		}
	}
	return said, strings.TrimSpace(found)
}

var sentenceEnd = lazy.Regexp(`[.!?…] `)

func wordsOf(n ast.Node, source []byte) string {
	var words strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			if n.Type() == ast.TypeBlock {
				words.WriteByte(' ')
			}
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Text:
			words.Write(n.Segment.Value(source))
			if n.SoftLineBreak() || n.HardLineBreak() {
				words.WriteByte(' ')
			}
		case *ast.String:
			words.Write(n.Value)
		case *ast.AutoLink:
			words.Write(n.Label(source))
		case *ast.CodeBlock, *ast.FencedCodeBlock:
			words.Write(n.Lines().Value(source))
		}
		return ast.WalkContinue, nil
	})
	return words.String()
}

// The limits of what is rendered. Markdown has constructs whose cost grows with the square of their
// length. Each has its own limit, so that the cost of a text is proportional to its length;
// whatever exceeds a limit is shown as plain characters.
const (
	// mostMarkdown is the maximum length of a text parsed as Markdown, in bytes.
	mostMarkdown = 64 << 10
	// mostNested is the maximum nesting of lists and quotes. A list counts twice: for itself and
	// for its item.
	mostNested = 12
	// mostInline is the maximum number of characters of a paragraph that may begin or end
	// something: emphasis, code, links. Each of them may search the rest of the paragraph.
	mostInline = 256
	// mostEscapedPipes is the maximum number of "\|" in the tables of a text.
	mostEscapedPipes = 256
	// mostExpansion is the maximum number of bytes of HTML per byte of Markdown; leastHTML is
	// allowed for any text.
	mostExpansion = 32
	leastHTML     = 4 << 10
	// mostPage is the maximum size of a page, in bytes.
	mostPage = 32 << 20
)

var errTooLong = errors.New("longer than allowed")

type boundedBuffer struct {
	bytes.Buffer
	limit int
}

func (b *boundedBuffer) Write(p []byte) (int, error) {
	if b.Len()+len(p) > b.limit {
		return 0, errTooLong
	}
	return b.Buffer.Write(p)
}

// boundedParser returns a parser of Markdown that takes time proportional to the text's length. HTML is text
// to it, and so are link definitions ("[name]: address"): each use would repeat the whole address.
func boundedParser() parser.Parser {
	blocks := []parser.BlockParser{
		parser.NewSetextHeadingParser(), parser.NewThematicBreakParser(),
		shallow{parser.NewListParser()},
		parser.NewListItemParser(),
		parser.NewCodeBlockParser(), parser.NewATXHeadingParser(), parser.NewFencedCodeBlockParser(),
		shallow{parser.NewBlockquoteParser()},
		parser.NewParagraphParser(),
	}
	inlines := []parser.InlineParser{
		parser.NewCodeSpanParser(), parser.NewLinkParser(), parser.NewAutoLinkParser(), parser.NewEmphasisParser(),
		extension.NewStrikethroughParser(), extension.NewLinkifyParser(),
	}
	var byPriority, inlinesByPriority []util.PrioritizedValue
	for i, p := range blocks {
		byPriority = append(byPriority, util.Prioritized(p, i))
	}
	for i, p := range inlines {
		inlinesByPriority = append(inlinesByPriority, util.Prioritized(sparse{p}, i))
	}
	return parser.NewParser(
		parser.WithBlockParsers(byPriority...),
		parser.WithInlineParsers(inlinesByPriority...),
		parser.WithParagraphTransformers(util.Prioritized(denseTables{extension.NewTableParagraphTransformer()}, 0)),
		parser.WithASTTransformers(util.Prioritized(extension.NewTableASTTransformer(), 0)),
	)
}

// shallow is a parser of nested blocks that opens none below mostNested.
type shallow struct{ parser.BlockParser }

func (s shallow) Open(parent ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	depth := 0
	for n := parent; n != nil; n = n.Parent() {
		depth++
	}
	if depth > mostNested {
		return nil, parser.NoChildren
	}
	return s.BlockParser.Open(parent, reader, pc)
}

// attemptsKey is the context key of the sparse parsers' attempts in the latest block.
var attemptsKey = parser.NewContextKey()

type attempts struct {
	block ast.Node
	count int
}

// inContext returns the value that a context has under a key; at first, the zero value.
func inContext[T any](pc parser.Context, key parser.ContextKey) *T {
	value, _ := pc.ComputeIfAbsent(key, func() any { return new(T) }).(*T)
	return value
}

// sparse is an inline parser that gives up after mostInline attempts in a block by all inline
// parsers. Only punctuation counts: an attempt at a space ends at the next one.
type sparse struct{ parser.InlineParser }

// CloseBlock implements parser.CloseBlocker.
func (s sparse) CloseBlock(parent ast.Node, block text.Reader, pc parser.Context) {
	if closer, ok := s.InlineParser.(parser.CloseBlocker); ok {
		closer.CloseBlock(parent, block, pc)
	}
}

func (s sparse) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	tried := inContext[attempts](pc, attemptsKey)
	if tried.block != parent {
		*tried = attempts{block: parent}
	}
	if util.IsPunct(block.Peek()) {
		tried.count++
	}
	if tried.count > mostInline {
		return nil
	}
	return s.InlineParser.Parse(parent, block, pc)
}

// denseTables turns a paragraph into a table only if it has at least as many bytes as the table
// would have cells: each row gets as many cells as the first, written or not.
type denseTables struct{ parser.ParagraphTransformer }

// escapedPipesKey is the context key of the number of "\|" in all tables: each of them is compared
// with each piece of code in a table.
var escapedPipesKey = parser.NewContextKey()

func (d denseTables) Transform(node *ast.Paragraph, reader text.Reader, pc parser.Context) {
	lines := node.Lines()
	columns, size, escaped := 1, 0, inContext[int](pc, escapedPipesKey)
	for i := range lines.Len() {
		line := lines.At(i)
		value := line.Value(reader.Source())
		columns, size = max(columns, bytes.Count(value, []byte{'|'})+1), size+len(value)
		*escaped += bytes.Count(value, []byte(`\|`))
	}
	if columns*lines.Len() <= size && *escaped <= mostEscapedPipes {
		d.ParagraphTransformer.Transform(node, reader, pc)
	}
}
