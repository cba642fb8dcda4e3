package main

import (
	"encoding/json"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"sigs.k8s.io/yaml"
)

const (
	tree = "../.."
	// released is the version that the tree's chart has, so that it can be packed.
	released = "v0.1.0"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func written(t *testing.T, path, text string) string {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(t, os.WriteFile(path, []byte(text), 0o644))
	return path
}

// assembled is a release's folder whose programs are a few bytes each.
func assembled(t *testing.T, content string) string {
	t.Helper()
	dir, out := t.TempDir(), t.TempDir()
	programs := programsOf{}
	for _, architecture := range architectures {
		programs[architecture] = map[string]string{}
		for _, program := range []string{"/linerate", "/manager"} {
			programs[architecture][program] = written(t, filepath.Join(dir, architecture, program), content+architecture+program)
		}
	}
	must(t, assemble(tree, released, out, programs))
	must(t, writeSums(out))
	written(t, filepath.Join(out, versionFile), released+"\n")
	return out
}

func TestMissingStepsAreNamed(t *testing.T) {
	project := t.TempDir()
	chart := written(t, filepath.Join(project, "charts/linerate/Chart.yaml"), "version: 0.1.0\nappVersion: 0.1.0\n")
	image := written(t, filepath.Join(project, "config/manager/kustomization.yaml"), "images: [{name: controller, newTag: v0.1.0}]\n")
	changes := written(t, filepath.Join(project, "CHANGELOG.md"), "# Changelog\n\n## Unreleased\n- a\n\n## v0.1.0 (2026-11-01)\n- b\n")
	must(t, check(project, "v0.1.0"))
	err := check(project, "v0.2.0")
	for _, says := range []string{"Chart.yaml has version \"0.1.0\" and appVersion \"0.1.0\": write 0.2.0", "newTag: v0.2.0", `no section "## v0.2.0 (DATE)"`} {
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v doesn't say %q", err, says)
		}
	}
	written(t, chart, "version: 0.2.0\nappVersion: 0.2.0\n")
	written(t, image, "images: [{name: controller, newTag: v0.2.0}]\n")
	written(t, changes, "# Changelog\n\n## Unreleased\n\n## v0.2.0 (2026-12-01)\n\n- c\n- d\n\n## v0.1.0 (2026-11-01)\n- b\n")
	must(t, check(project, "v0.2.0"))
	if notes, err := notesOf(project, "v0.2.0"); err != nil || notes != "- c\n- d\n" {
		t.Errorf("notes %q, %v", notes, err)
	}
	for _, version := range []string{"", "0.2.0", "v0.2", "v0.2.0-", "v01.2.0", "v0.2.0-dirty+1", "latest"} {
		if err := check(project, version); err == nil || !strings.Contains(err.Error(), "is called like v0.2.0") {
			t.Errorf("%q: %v", version, err)
		}
	}
}

func TestTheSameProgramsGiveTheSameRelease(t *testing.T) {
	first, second, other := assembled(t, "a"), assembled(t, "a"), assembled(t, "b")
	read := func(dir, file string) string {
		text, err := os.ReadFile(filepath.Join(dir, file))
		must(t, err)
		return string(text)
	}
	for _, file := range []string{sumsFile, imageFolder + "/index.json"} {
		if read(first, file) != read(second, file) {
			t.Errorf("%s differs from one time to the next", file)
		}
		if read(first, file) == read(other, file) {
			t.Errorf("%s is the same for other programs", file)
		}
	}
	if lines := strings.Count(read(first, sumsFile), "\n"); lines != 4 {
		t.Errorf("%d sums, not those of two archives, the chart and krew's manifest:\n%s", lines, read(first, sumsFile))
	}
}

// plugin is krew's manifest, as its documentation has it. What isn't in here is refused.
type plugin struct {
	APIVersion, Kind string
	Metadata         struct{ Name string }
	Spec             struct {
		Version, Homepage, ShortDescription, Description, Caveats string
		Platforms                                                 []struct {
			URI, SHA256, Bin string
			Selector         struct{ MatchLabels map[string]string }
			Files            []struct{ From, To string }
		}
	}
}

func TestKrewTakesTheManifest(t *testing.T) {
	out := assembled(t, "a")
	text, err := os.ReadFile(filepath.Join(out, krewFile))
	must(t, err)
	var p plugin
	if err := yaml.UnmarshalStrict(text, &p); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if p.APIVersion != "krew.googlecontainertools.github.com/v1alpha2" || p.Kind != "Plugin" || p.Metadata.Name != "linerate" || p.Spec.Version != released || p.Spec.Homepage == "" || p.Spec.Description == "" {
		t.Errorf("%+v", p)
	}
	if n := len(p.Spec.ShortDescription); n == 0 || n > 50 || strings.HasSuffix(p.Spec.ShortDescription, ".") {
		t.Errorf("krew wants a short description of at most 50 characters, without a full stop: %q has %d", p.Spec.ShortDescription, n)
	}
	var seen []string
	for _, platform := range p.Spec.Platforms {
		architecture := platform.Selector.MatchLabels["arch"]
		seen = append(seen, architecture)
		archive := archiveName(architecture)
		sum, err := sumOf(filepath.Join(out, archive))
		must(t, err)
		if platform.Selector.MatchLabels["os"] != "linux" || platform.SHA256 != sum || platform.URI != "https://github.com/linerate-dev/linerate/releases/download/"+released+"/"+archive {
			t.Errorf("%s: %+v, and its sum is %s", archive, platform, sum)
		}
		data, err := os.ReadFile(filepath.Join(out, archive))
		must(t, err)
		for _, file := range platform.Files {
			if content, err := fileOf(data, file.From); err != nil || len(content) == 0 || file.To != "." {
				t.Errorf("%s: file %+v: %v", archive, file, err)
			}
		}
		if platform.Bin != "linerate" || len(platform.Files) != 2 {
			t.Errorf("%+v", platform)
		}
	}
	if !slices.Equal(seen, architectures) {
		t.Errorf("krew's manifest has %q, and there are archives of %q", seen, architectures)
	}
	if _, err := krewManifest(`{{addURIAndSha "https://x/linerate_darwin_arm64.tar.gz" .TagName }}`, released, map[string]string{"amd64": "0"}); err == nil {
		t.Error("an archive that isn't there is taken")
	}
}

func aRegistry(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://") + "/linerate-dev"
}

func TestImageAndChartArePushedOnce(t *testing.T) {
	out, to := assembled(t, "a"), aRegistry(t)
	must(t, push(t.Context(), out, to))
	pushed, err := os.ReadFile(filepath.Join(out, pushedFile))
	must(t, err)
	lines := regexp.MustCompile(`(?m)^(image|chart)=(\S+@sha256:[0-9a-f]{64})$`).FindAllStringSubmatch(string(pushed), -1)
	if len(lines) != 2 {
		t.Fatalf("pushed:\n%s", pushed)
	}
	t.Run("the image has both architectures", func(t *testing.T) {
		index, err := remote.Index(digestOf(t, lines[0][2]))
		must(t, err)
		manifest, err := index.IndexManifest()
		must(t, err)
		var seen []string
		for _, m := range manifest.Manifests {
			seen = append(seen, m.Platform.Architecture)
			image, err := index.Image(m.Digest)
			must(t, err)
			config, err := image.ConfigFile()
			must(t, err)
			if config.Architecture != m.Platform.Architecture || config.Config.User != "65532:65532" || !slices.Equal(config.Config.Entrypoint, []string{"/linerate"}) {
				t.Errorf("%s: %+v", m.Platform.Architecture, config)
			}
		}
		if !slices.Equal(seen, architectures) {
			t.Errorf("architectures %q", seen)
		}
	})
	t.Run("the chart is one of Helm's", func(t *testing.T) {
		chart, err := remote.Image(digestOf(t, lines[1][2]))
		must(t, err)
		manifest, err := chart.Manifest()
		must(t, err)
		description, err := chart.RawConfigFile()
		must(t, err)
		var said struct{ Name, Version string }
		must(t, json.Unmarshal(description, &said))
		packed, err := os.ReadFile(filepath.Join(out, chartName(released)))
		must(t, err)
		digest, size, err := v1.SHA256(strings.NewReader(string(packed)))
		must(t, err)
		if said.Name != "linerate" || "v"+said.Version != released || manifest.Config.MediaType != helmConfig || len(manifest.Layers) != 1 ||
			manifest.Layers[0].MediaType != helmChart || manifest.Layers[0].Digest != digest || manifest.Layers[0].Size != size {
			t.Errorf("%+v, %s", manifest, description)
		}
	})
	t.Run("a second time nothing changes", func(t *testing.T) {
		must(t, push(t.Context(), out, to))
		if again, err := os.ReadFile(filepath.Join(out, pushedFile)); err != nil || string(again) != string(pushed) {
			t.Errorf("%v\n%s", err, again)
		}
	})
	t.Run("what was released isn't replaced", func(t *testing.T) {
		err := push(t.Context(), assembled(t, "b"), to)
		if err == nil || !strings.Contains(err.Error(), "is there already") {
			t.Errorf("%v", err)
		}
	})
	t.Run("a registry that isn't there is an error", func(t *testing.T) {
		if err := push(t.Context(), out, "127.0.0.1:1/x"); err == nil {
			t.Error("it is none")
		}
	})
}

func digestOf(t *testing.T, reference string) name.Digest {
	t.Helper()
	digest, err := name.NewDigest(reference)
	must(t, err)
	return digest
}

func TestAFolderIsForOneRelease(t *testing.T) {
	out := t.TempDir()
	written(t, filepath.Join(out, "left"), "")
	if err := build(t.Context(), tree, released, out); err == nil || !strings.Contains(err.Error(), "remove it") {
		t.Errorf("%v", err)
	}
}
