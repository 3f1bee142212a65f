// Package sandbox groups the packages that confine Claude and all programs of a job. process starts them, in
// namespaces of their own where the machine allows it, and ends all that is left of them. door is their
// only way to the network. untrusted opens the files that they may have written.
package sandbox
