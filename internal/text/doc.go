// Package text groups small packages about text that know nothing of Ringback.
package text
