package runner

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gofrs/flock"

	"ringback/internal/job"
	"ringback/internal/sandbox/process"
	"ringback/internal/sandbox/untrusted"
	"ringback/internal/turn/artifact"
	"ringback/internal/turn/claude"
)

// nodeDir is a node's directory in the data directory. Its name outlives the server, so
// that a restarted server finds the processes that it left. Several servers may share a
// data directory; each locks its own nodeDir.
type nodeDir struct {
	dir  string
	node string
	lock *flock.Flock
}

const maxNodes = 64

func lockNodeDir(dir string) (*nodeDir, error) {
	for n := range maxNodes {
		own, err := filepath.Abs(filepath.Join(dir, "nodes", strconv.Itoa(n)))
		if err != nil {
			return nil, err
		}
		for _, parent := range []string{filepath.Join(own, "jobs"), conversationsIn(dir)} {
			if err := os.MkdirAll(parent, 0o700); err != nil {
				return nil, fmt.Errorf("DATA_DIR cannot be used: %w", err)
			}
		}
		lock := flock.New(filepath.Join(own, "lock"))
		mine, err := lock.TryLock()
		if err != nil {
			return nil, fmt.Errorf("DATA_DIR cannot be used: %w", err)
		}
		if mine {
			return namedNodeDir(own, lock)
		}
	}
	return nil, fmt.Errorf("DATA_DIR %s is in use by %d servers: set another one", dir, maxNodes)
}

func namedNodeDir(dir string, lock *flock.Flock) (*nodeDir, error) {
	file := filepath.Join(dir, "node")
	name, err := untrusted.ReadFile(file, maxNote)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(name) == 0 {
		name = []byte("node_" + strings.ToLower(rand.Text()))
		err = untrusted.WriteFile(file, name)
	}
	if err != nil {
		return nil, fmt.Errorf("DATA_DIR cannot be used: %w", err)
	}
	return &nodeDir{dir: dir, node: string(name), lock: lock}, nil
}

func (s *nodeDir) release() { _ = s.lock.Unlock() }

func (s *nodeDir) jobDir(id job.ID) string { return filepath.Join(s.dir, "jobs", string(id)) }

// maxNote limits the size of a file in which the server keeps a name or a number, in bytes.
const maxNote = 1 << 10

// workName is the name of the working directory in a job's directory.
const workName = "work"

func (s *nodeDir) workDir(id job.ID) string { return filepath.Join(s.jobDir(id), workName) }

// turnFiles returns the files through which a later start of the server finds a turn's
// process.
func (s *nodeDir) turnFiles(id job.ID, turn int) process.Files {
	return process.Files{
		Record: s.turnFile(id, turn, "json"), Stdout: s.turnFile(id, turn, "stdout"), Stderr: s.turnFile(id, turn, "stderr"),
	}
}

func (s *nodeDir) turnFile(id job.ID, turn int, suffix string) string {
	return filepath.Join(s.jobDir(id), turnPrefix+strconv.Itoa(turn)+"."+suffix)
}

// turnPrefix begins the names of the files of turns.
const turnPrefix = "turn-"

// FreeOutput frees what turns below a data directory have printed beyond their limit, which is never read. A
// job may have filled the disk while no server ran.
func FreeOutput(dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, "nodes", "*", "jobs", "*", turnPrefix+"*.std*"))
	for _, file := range files {
		err = errors.Join(err, untrusted.Cut(file, outputLimit+1))
	}
	return err
}

// removeTurn removes the files of an earlier turn of this number, which the store may have lost.
func (s *nodeDir) removeTurn(id job.ID, turn int) {
	s.turnFiles(id, turn).Remove()
	_ = os.Remove(s.usageFile(id, turn))
	_ = os.Remove(s.pulseFile(id, turn))
}

// marker returns the mark by which the processes of a turn are found. It names the node: a server with a
// copy of the store runs turns of the same number, and must not take each other's processes for its own.
func (s *nodeDir) marker(id job.ID, turn int) string { return oldMarker(id, turn) + "/" + s.node }

// oldMarker is the marker that the version before gave to a turn; its process may still run.
func oldMarker(id job.ID, turn int) string { return string(id) + "/" + strconv.Itoa(turn) }

// turnOf returns the job and the node of a turn's marker. There is no node in an old one, and no job in
// the marker of anything else.
func turnOf(marker string) (id job.ID, node string) {
	parts := strings.SplitN(marker, "/", 3)
	if len(parts) < 2 {
		return "", ""
	}
	if len(parts) == 3 {
		node = parts[2]
	}
	return job.ID(parts[0]), node
}

// files returns the directory of a job's artifacts, without its callback payloads.
func (s *nodeDir) files(id job.ID) artifact.Dir { return filesIn(s.dir, id) }

func filesIn(nodeDir string, id job.ID) artifact.Dir {
	return artifact.Dir{Base: nodeDir, Path: "jobs/" + string(id) + "/" + workName, Hidden: claude.PayloadFiles()}
}

// Files returns the directory of a job's artifacts on a node that keeps its files below
// dir. It returns false if they are in another data directory or on another machine.
func Files(dir, node string, id job.ID) (artifact.Dir, bool) {
	own, ok := Nodes(dir)[node]
	return filesIn(own, id), ok
}

// Nodes returns the directories of the nodes that keep their files below dir, by their names.
func Nodes(dir string) map[string]string {
	nodes := map[string]string{}
	files, _ := filepath.Glob(filepath.Join(dir, "nodes", "*", "node")) // the pattern is correct
	for _, file := range files {
		if name, err := untrusted.ReadFile(file, maxNote); err == nil {
			nodes[string(name)] = filepath.Dir(file)
		}
	}
	return nodes
}

func (s *nodeDir) jobs() (ids []job.ID) {
	entries, _ := os.ReadDir(filepath.Join(s.dir, "jobs"))
	for _, e := range entries {
		if id := job.ID(e.Name()); !isTrial(id) {
			ids = append(ids, id)
		}
	}
	return ids
}
