package published

import (
	"fmt"
	"os"
	"strings"
)

// Section replaces what a page has between <!-- NAME: … --> and <!-- end of NAME -->. The text ends with a newline.
func Section(page, name, text string) error {
	return Rewrite(page, name, func(string) string { return text })
}

// Rewrite is Section for a text that is computed from the old one.
func Rewrite(page, name string, text func(old string) string) error {
	old, err := os.ReadFile(page)
	if err != nil {
		return fmt.Errorf("publish %s: %w", name, err)
	}
	updated, err := replace(string(old), name, text)
	if err != nil {
		return fmt.Errorf("publish in %s: %w", page, err)
	}
	return os.WriteFile(page, []byte(updated), 0o644) // a page of the documentation
}

func replace(page, name string, text func(old string) string) (string, error) {
	end := "<!-- end of " + name + " -->"
	head, rest, begins := strings.Cut(page, "<!-- "+name+":")
	mark, rest, marked := strings.Cut(rest, "-->\n")
	old, tail, ends := strings.Cut(rest, end)
	if !begins || !marked || !ends {
		return "", fmt.Errorf("it has no part between <!-- %s: … --> and %s", name, end)
	}
	return head + "<!-- " + name + ":" + mark + "-->\n" + text(old) + end + tail, nil
}
