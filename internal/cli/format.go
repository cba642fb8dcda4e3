package cli

import (
	"strings"

	"github.com/linerate-dev/linerate/internal/report"
)

func formatUsage() string { return "what to print on stdout: " + joined(report.Formats()) }

func joined(words []string) string { return strings.Join(words, ", ") }
