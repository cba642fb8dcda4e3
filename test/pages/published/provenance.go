package published

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// Provenance says when, of what and on what something was measured, as a sentence without its end: "Measured on
// 2 January 2026, with linerate 1a2b3c4, on 2 of 4 processors (…), Linux 6.1".
func Provenance(now time.Time) string {
	return fmt.Sprintf("Measured on %s, with linerate %s, on %s", now.UTC().Format("2 January 2006"), commit(),
		machine())
}

// commit is the tree's, and whether more than its pages was changed since: pages are what is just being written.
func commit() string {
	head, err := exec.Command("git", "rev-parse", "--short", "HEAD").Output()
	if err != nil {
		return "of an unknown commit"
	}
	name := strings.TrimSpace(string(head))
	changed, err := exec.Command("git", "status", "--porcelain", "--", ":/", ":(exclude,top)docs").Output()
	if err != nil || len(changed) > 0 {
		name += " and what was changed since"
	}
	return name
}

// machine is what may be used of it: a test that was given two processors measured on two.
func machine() string {
	count, model := processors("/proc/cpuinfo")
	text := fmt.Sprintf("%d processors", runtime.NumCPU())
	if count > runtime.NumCPU() {
		text = fmt.Sprintf("%d of %d processors", runtime.NumCPU(), count)
	}
	if model != "" {
		text += " (" + model + ")"
	}
	if release, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		text += ", Linux " + strings.TrimSpace(string(release))
	}
	return text
}

// processors counts those in a file as Linux's /proc/cpuinfo, and has their name.
func processors(file string) (count int, model string) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, ""
	}
	for line := range strings.Lines(string(text)) {
		switch key, value, _ := strings.Cut(line, ":"); strings.TrimSpace(key) {
		case "processor":
			count++
		case "model name":
			model = strings.TrimSpace(value)
		}
	}
	return count, model
}
