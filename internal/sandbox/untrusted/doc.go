// Package untrusted opens, reads, walks and removes files that a job has written and may be
// replacing at the same moment. Nothing is looked up by name twice: each name of a path is
// opened from the directory before it, no symbolic link is followed, no open blocks, and what
// was opened is judged by its descriptor. What is read is limited in size, and what is walked
// in depth and number.
//
// os.Root is not enough for this: it follows links within the directory, blocks on named
// pipes and opens devices.
package untrusted
