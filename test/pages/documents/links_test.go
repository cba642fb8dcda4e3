package documents

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const tree = "../../.."

// pages are the tree's Markdown documents, by their path from its top.
func pages(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := fs.WalkDir(os.DirFS(tree), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && strings.HasPrefix(entry.Name(), ".") && name != ".", entry.IsDir() && entry.Name() == "testdata":
			return fs.SkipDir
		case path.Ext(name) == ".md":
			text, err := os.ReadFile(filepath.Join(tree, name))
			all[name] = string(text)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

var (
	fence   = regexp.MustCompile("(?ms)^ *```.*?^ *```")
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ +(.+)$`)
	named   = regexp.MustCompile(`\b(?:docs|examples)/[a-z][A-Za-z0-9_/-]*\.(?:md|ya?ml)\b`)
)

// TestEachLinkResolves: of every page, to a file or folder of the tree, and to a heading where one is named.
func TestEachLinkResolves(t *testing.T) {
	all, followed := pages(t), 0
	for name, text := range all {
		for _, m := range link.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
			followed++
			if fault := follow(all, name, m[1]); fault != "" {
				t.Errorf("%s: %s: %s", name, m[1], fault)
			}
		}
	}
	if followed < 150 {
		t.Errorf("%d links were followed: are they written in another way?", followed)
	}
}

// follow is what is wrong with a link of a page; empty: nothing.
func follow(all map[string]string, from, to string) string {
	if strings.Contains(to, "://") {
		return ""
	}
	file, anchor, _ := strings.Cut(to, "#")
	target := from
	if file != "" {
		target = path.Join(path.Dir(from), file)
	}
	if _, err := os.Stat(filepath.Join(tree, target)); err != nil {
		return "there is no " + target
	}
	if anchor != "" && !slices.Contains(anchors(all[target]), anchor) {
		return "there is no such heading in " + target
	}
	return ""
}

// anchors are what links may name of a page: GitHub makes them of headings.
func anchors(text string) (all []string) {
	for _, m := range heading.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
		words := link.ReplaceAllString(strings.ToLower(m[1]), "]")
		words = regexp.MustCompile(`[^\pL\pN _-]`).ReplaceAllString(words, "")
		all = append(all, strings.ReplaceAll(words, " ", "-"))
	}
	return all
}

// TestTheIndexHasEachPage: readers begin there, in each folder of pages.
func TestTheIndexHasEachPage(t *testing.T) {
	all := pages(t)
	for name := range all {
		index := path.Join(path.Dir(name), "README.md")
		if slices.Contains([]string{"docs", "docs/measured", "docs/measured/published"}, path.Dir(name)) && name != index && !strings.Contains(all[index], "]("+path.Base(name)+")") {
			t.Errorf("%s doesn't name %s", index, name)
		}
	}
	if !strings.Contains(all["README.md"], "](docs/README.md)") {
		t.Error("README.md doesn't name docs/README.md")
	}
}

// TestNamedFilesExist: messages, help and comments send their readers to pages and examples, and so do the pages' own commands.
func TestNamedFilesExist(t *testing.T) {
	seen := 0
	err := fs.WalkDir(os.DirFS(tree), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if strings.HasPrefix(entry.Name(), ".") && name != "." || slices.Contains([]string{"bin", "testdata", "linerate-reports"}, entry.Name()) {
				return fs.SkipDir
			}
			return nil
		}
		if !slices.Contains([]string{".go", ".md", ".yaml", ".yml", ".txt", ".tpl", ""}, path.Ext(name)) {
			return nil
		}
		text, err := os.ReadFile(filepath.Join(tree, name))
		for _, file := range named.FindAllString(string(text), -1) {
			seen++
			if _, err := os.Stat(filepath.Join(tree, file)); err != nil {
				t.Errorf("%s: there is no %s", name, file)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen < 100 {
		t.Errorf("%d were seen: are they named in another way?", seen)
	}
}

func TestABrokenLinkIsFound(t *testing.T) {
	all := map[string]string{"README.md": "# A `b` page: c\n```\n# not one\n```\n"}
	for to, want := range map[string]string{
		"none/none.md":        "there is no none/none.md",
		"#not-one":            "there is no such heading in README.md",
		"#a-b-page-c":         "",
		"docs":                "",
		"https://example.com": "",
	} {
		if got := follow(all, "README.md", to); got != want {
			t.Errorf("%s: %q, want %q", to, got, want)
		}
	}
}
