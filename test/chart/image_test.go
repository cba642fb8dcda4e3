package chart

import (
	"regexp"
	"strings"
	"testing"
)

func TestTheDockerfilesGoIsTheModules(t *testing.T) {
	version := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(read(t, "go.mod"))
	if version == nil || !strings.Contains(read(t, "Dockerfile"), " golang:"+version[1]+" AS build") {
		t.Errorf("go.mod says %v", version)
	}
}
