package scan

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"ringback/internal/job"
)

// Store searches the append-only files of a Redis under dir, which contain everything ever
// stored, deleted or not. It returns the secrets in forbidden places, including the secrets
// of stored turns in everything scanned before. So call it last, after everything else was
// scanned.
func (s *Scan) Store(dir string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(dir, "appendonlydir", "*.aof"))
	if err != nil {
		return nil, err
	}
	history := history{scan: s, secrets: map[job.Secret]job.ID{}, pieces: map[string][]byte{}}
	for _, file := range files {
		if err := history.read(file); err != nil {
			return nil, err
		}
	}
	for key, text := range history.pieces {
		history.leaks = append(history.leaks, s.Look(Place{Stored, key}, text)...)
	}
	leaks := append(history.leaks, s.turns(history.secrets)...)
	slices.Sort(leaks)
	return slices.Compact(leaks), nil
}

// history is the content of append-only files.
type history struct {
	scan    *Scan
	leaks   []string
	secrets map[job.Secret]job.ID
	// pieces are values that were written in pieces: a secret may span two.
	pieces map[string][]byte
}

func (h *history) read(file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	in := bufio.NewReaderSize(f, 1<<16)
	for {
		command, err := readCommand(in)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) { // Redis was killed while it wrote
			return nil
		}
		if err != nil {
			return err
		}
		h.take(command)
	}
}

func (h *history) take(command [][]byte) {
	if len(command) < 2 {
		return
	}
	key := keyName(string(command[1]))
	if strings.EqualFold(string(command[0]), "SETRANGE") && len(command) == 4 {
		h.pieces[key] = append(h.pieces[key], command[3]...)
		return
	}
	for i := 2; i < len(command); i++ {
		if plain, err := unpacked(command[i]); err == nil {
			command[i] = plain
		}
	}
	h.leaks = append(h.leaks, h.scan.Look(Place{Stored, key}, bytes.Join(command[1:], []byte{0}))...)
	id, ok := strings.CutPrefix(key, "secret:")
	if !ok || !strings.EqualFold(string(command[0]), "HSET") {
		return
	}
	for i := 2; i+1 < len(command); i += 2 {
		if string(command[i]) == "secret" {
			h.secrets[job.Secret(command[i+1])] = job.ID(id)
		}
	}
}

// unpacked decompresses a stored value; an error if it is not compressed.
func unpacked(value []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(value))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

// keyName returns a key without the prefix of its partition.
func keyName(key string) string {
	if rest, ok := strings.CutPrefix(key, "rb:{"); ok {
		if _, name, ok := strings.Cut(rest, "}:"); ok {
			return name
		}
	}
	return key
}

var errNoCommand = errors.New("an append-only file holds something other than commands")

// readCommand reads one command in the Redis protocol.
func readCommand(in *bufio.Reader) ([][]byte, error) {
	count, err := readNumber(in, '*')
	if err != nil {
		return nil, err
	}
	command := make([][]byte, count)
	for i := range command {
		length, err := readNumber(in, '$')
		if err != nil {
			return nil, err
		}
		command[i] = make([]byte, length)
		if _, err := io.ReadFull(in, command[i]); err != nil {
			return nil, err
		}
		if _, err := in.Discard(2); err != nil {
			return nil, err
		}
	}
	return command, nil
}

func readNumber(in *bufio.Reader, mark byte) (int, error) {
	line, err := in.ReadString('\n')
	if err != nil {
		return 0, err
	}
	if line[0] == '#' { // an annotation
		return readNumber(in, mark)
	}
	n, err := strconv.Atoi(strings.TrimSpace(line[1:]))
	if err != nil || line[0] != mark {
		return 0, errNoCommand
	}
	return n, nil
}
