// Package sandbox is the folder of where Claude and all programs of a job run. process starts them, in
// namespaces of their own where the machine allows it, and ends all that is left of them. door is their
// only way to the network. untrusted opens the files that they may have written.
package sandbox
