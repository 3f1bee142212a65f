// Package artifact finds, lists, opens and prunes the files that a job's processes left in
// their working directory. Those processes are not trusted: symbolic links are never
// followed, even if a file is replaced while it is opened. Only regular files with a single
// hard link are visible, files and directories whose name begins with a dot are hidden, and
// the number of files is limited.
package artifact
