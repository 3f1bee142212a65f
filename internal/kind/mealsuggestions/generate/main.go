// Command generate writes the schemas of meal-suggestions into a directory.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"ringback/internal/kind/mealsuggestions"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return errors.New("name the directory to write the schemas to")
	}
	files, err := mealsuggestions.Schemas()
	if err != nil {
		return err
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(args[0], name), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
