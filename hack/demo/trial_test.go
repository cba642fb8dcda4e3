package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/compile"
	"github.com/linerate-dev/linerate/internal/compile/admission"
)

func TestFreeName(t *testing.T) {
	for name, c := range map[string]struct {
		taken []string
		want  string
	}{
		"the first run has the example's name":       {nil, "router"},
		"the second has a number":                    {[]string{"router"}, "router-2"},
		"the next has the next":                      {[]string{"router-2", "router", "router-3"}, "router-4"},
		"a number that was deleted isn't used again": {[]string{"router-7"}, "router-8"},
		"other names don't count":                    {[]string{"router-imix", "router-2b", "routers", "my-router-9"}, "router"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := freeName("router", c.taken); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

func TestTheExamplesCanBeMeasured(t *testing.T) {
	server, err := admission.NewServer()
	if err != nil {
		t.Fatal(err)
	}
	l := demoCluster{project: "../.."}
	files, err := filepath.Glob(l.example("*"))
	if err != nil || len(files) < len(examples()) {
		t.Fatalf("%d files: %v", len(files), err)
	}
	for _, file := range files {
		if file == l.example("namespace") {
			continue
		}
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			objects, err := server.Load(file, bytes.NewReader(text))
			if err != nil || len(objects) != 1 {
				t.Fatalf("%d LoadTests: %v", len(objects), err)
			}
			test := objects[0].LoadTest
			if _, faults := compile.ForCluster(test); len(faults) > 0 {
				t.Error(faults.ToAggregate())
			}
			for _, link := range test.Spec.Links {
				if string(link.Network) != string(link.Name) {
					t.Errorf("link %s has network %q; the wires' are %v", link.Name, link.Network, wires())
				}
			}
			if pod := test.Spec.DUT.Pod; pod != nil && !strings.Contains(string(text), router) {
				t.Errorf("the image that is on the nodes is %s", router)
			}
		})
	}
}
