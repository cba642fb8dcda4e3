package chart

import (
	"regexp"
	"strings"
	"testing"
)

func TestTheDockerfilesGoIsTheModules(t *testing.T) {
	version := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(read(t, "go.mod"))
	image := regexp.MustCompile(`(?m)^FROM \S+ golang:((\d+\.\d+)\.\d+)@sha256:[0-9a-f]{64} AS build$`).FindStringSubmatch(read(t, "Dockerfile"))
	if version == nil || image == nil || image[2] != version[1] {
		t.Fatalf("go.mod says %v, the Dockerfile %v", version, image)
	}
	if !strings.Contains(read(t, ".github/workflows/release.yml"), "go-version: "+image[1]+",") {
		t.Errorf("the release workflow's Go isn't the Dockerfile's, %s", image[1])
	}
}
