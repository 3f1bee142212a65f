package console

import (
	"bytes"
	"errors"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

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
