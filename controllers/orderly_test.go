package controllers

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestEveryControllerEndsOrderly(t *testing.T) {
	files, err := filepath.Glob("*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	controllers := 0
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, completed := range regexp.MustCompile(`\bComplete\(.*`).FindAllString(string(text), -1) {
			controllers++
			if !strings.HasPrefix(completed, "Complete(pass.Orderly(") {
				t.Errorf("%s: %s", file, completed)
			}
		}
	}
	if controllers < 4 {
		t.Errorf("only %d controllers were found", controllers)
	}
}
