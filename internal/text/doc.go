// Package text is the folder of small packages about text that know nothing of Ringback.
package text
