package chart

import (
	"bytes"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/internal/compile"
	"github.com/linerate-dev/linerate/internal/compile/admission"
)

// fence is a block of YAML, indented or not.
var fence = regexp.MustCompile("(?ms)^( *)```yaml\n(.*?)^ *```$")

// snippets are the blocks of YAML in a document, as a reader would copy them.
func snippets(t *testing.T, file string) (all []string) {
	t.Helper()
	for _, match := range fence.FindAllStringSubmatch(read(t, file), -1) {
		var text bytes.Buffer
		for line := range strings.Lines(match[2]) {
			text.WriteString(strings.TrimPrefix(line, match[1]))
		}
		all = append(all, text.String())
	}
	return all
}

// What the documents show is taken: objects by the real API server, values by the chart. A snippet that is neither says in its first line what it is.
func theDocumentsAreTaken(t *testing.T) {
	seen := map[string]int{}
	for _, file := range []string{"docs/install.md", "docs/sriov.md", "docs/security.md", "docs/history.md"} {
		for _, text := range snippets(t, file) {
			kind := kindOf(t, text)
			seen[kind]++
			t.Run(file+" "+kind, func(t *testing.T) {
				switch kind {
				case "values":
					render(t, text)
				case "object":
					kubectl(t, text, "apply", "--server-side", "--dry-run=server", "--validate=strict", "-f", "-")
				}
			})
		}
	}
	if seen["values"] < 3 || seen["object"] < 4 || seen["other"] != 2 {
		t.Errorf("seen %v", seen)
	}
}

func kindOf(t *testing.T, text string) string {
	t.Helper()
	first, _, _ := strings.Cut(text, "\n")
	switch first {
	case "# values.yaml":
		return "values"
	case "# kustomization.yaml", "# KubeletConfiguration":
		var any map[string]any
		if err := yaml.UnmarshalStrict([]byte(text), &any); err != nil {
			t.Errorf("%v\n%s", err, text)
		}
		return "other"
	default:
		return "object"
	}
}

// objectsShown are all objects that the documents tell a reader to apply, typed.
func objectsShown(t *testing.T) (all []object) {
	t.Helper()
	_, after, _ := strings.Cut(render(t, "").notes, "<<'YAML'\n")
	notes, _, _ := strings.Cut(after, "\nYAML\n")
	for _, text := range append(snippets(t, "docs/sriov.md"), notes) {
		if kindOf(t, text) != "object" {
			continue
		}
		for _, document := range documents(t, text) {
			all = append(all, decode(t, document))
		}
	}
	return all
}

func TestTheLoadTestsShownAreAccepted(t *testing.T) {
	server, err := admission.NewServer()
	must(t, err)
	seen := 0
	for _, o := range objectsShown(t) {
		test, ok := o.(*v1alpha1.LoadTest)
		if !ok {
			continue
		}
		seen++
		t.Run(test.Name, func(t *testing.T) {
			document, err := yaml.Marshal(map[string]any{"apiVersion": test.APIVersion, "kind": test.Kind, "metadata": map[string]string{"name": test.Name}, "spec": test.Spec})
			must(t, err)
			admitted, err := server.Load(test.Name, bytes.NewReader(document))
			must(t, err)
			if _, errs := compile.ForCluster(admitted[0].LoadTest); len(errs) > 0 {
				t.Error(errs.ToAggregate())
			}
		})
	}
	if seen != 4 {
		t.Errorf("%d LoadTests were seen", seen)
	}
}

// The networks shown are read as the operator reads them: those of SR-IOV have a device and take a MAC.
func TestTheNetworksShownAreRead(t *testing.T) {
	seen := map[string]int{}
	for _, o := range objectsShown(t) {
		u, ok := o.(*unstructured.Unstructured)
		if !ok || u.GetKind() != "NetworkAttachmentDefinition" {
			continue
		}
		config, _, err := unstructured.NestedString(u.Object, "spec", "config")
		if err != nil {
			t.Fatal(err)
		}
		n, err := manifests.ReadNetwork(compile.NetworkKey{Namespace: u.GetNamespace(), Name: u.GetName()}, u.GetAnnotations(), config)
		if err != nil {
			t.Errorf("%s: %v", u.GetName(), err)
		}
		seen[n.Plugin]++
		if (n.Plugin == "sriov") != (n.Resource != "" && n.MAC) {
			t.Errorf("%+v", n)
		}
	}
	if seen["sriov"] != 4 || seen["bridge"] != 2 {
		t.Errorf("networks by plugin: %v", seen)
	}
}

// decode reads an object of a known kind strictly, and others as they are.
func decode(t *testing.T, document []byte) object {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(document, &u.Object); err != nil {
		t.Fatal(err)
	}
	if u.GetKind() == "NetworkAttachmentDefinition" {
		return u
	}
	return objects(t, string(document))[0]
}

// The overlay shown is built, over this tree instead of a released one.
func TestTheOverlayShownChangesBothPlacesOfTheImage(t *testing.T) {
	for _, text := range snippets(t, "docs/install.md") {
		if !strings.HasPrefix(text, "# kustomization.yaml\n") {
			continue
		}
		local := regexp.MustCompile(`(?m)^- https://.*$`).ReplaceAllString(text, "- ../config/default")
		files := filesys.MakeFsInMemory()
		for _, folder := range []string{"admission", "crd", "crd/bases", "default", "manager", "rbac"} {
			copied, err := filepath.Glob(root + "config/" + folder + "/*.yaml")
			must(t, err)
			for _, file := range copied {
				must(t, files.WriteFile("/config/"+folder+"/"+filepath.Base(file), []byte(read(t, strings.TrimPrefix(file, root)))))
			}
		}
		must(t, files.WriteFile("/overlay/kustomization.yaml", []byte(local)))
		result, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(files, "/overlay")
		must(t, err)
		manifest, err := result.AsYaml()
		must(t, err)
		c := onlyDeployment(t, objects(t, string(manifest))).Spec.Template.Spec.Containers[0]
		if !strings.HasPrefix(c.Image, "mirror.lab/linerate:") || c.Env[0].Value != c.Image {
			t.Errorf("image %s, environment %v", c.Image, c.Env)
		}
		return
	}
	t.Error("no overlay is shown")
}
