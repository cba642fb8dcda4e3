//go:build trex

package e2e

import (
	"flag"
	"io/fs"
	"path"
	"path/filepath"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/hack/image/pack"
)

// trexRoot is the root of an image of TRex, since the project brings none along: _t-rex-64 with its libraries in /opt/trex, the C library and its loader where
// they belong, something in /tmp and in /var/run. Of a container's export the files that TRex needs are enough:
//
//	go test -tags trex ./test/cluster/e2e -run TestARealTRexInPods -trex-root /tmp/trex-root
var trexRoot = flag.String("trex-root", "", "root of the file system of an image of TRex")

const realTRex = "example.com/linerate/trex:real"

// TestARealTRexInPods: a TRex that really is one, brought up in a pod by the launcher on kernel interfaces, measures a device whose limit is known.
// It shares the machine's processors with all else, so its own watchdog is off.
func TestARealTRexInPods(t *testing.T) {
	loadTRex(t, *trexRoot)
	if err := lab.Cables(t.Context(), "realwest", "realeast"); err != nil {
		t.Fatal(err)
	}
	s, limit := begin(t), unknown()
	s.apply("real-trex", `
links:
- {name: west, network: default/realwest, lineRate: 1gbps}
- {name: east, network: default/realeast, lineRate: 1gbps}
generator:
  engine: TRex
  memory: 1536Mi
  placement: {separateNodes: true}
  trex: {image: "`+realTRex+`", args: [--no-watchdog]}
`, router(limit), quick)
	test := s.complete("real-trex", 5*time.Minute)
	t.Logf("limit %d packets/s: %+v", limit, test.Status.Result)
	for _, g := range s.report(test).Generators {
		t.Logf("generator %s: %s, skew %v, %+v", g.Name, g.Product, g.StartSkew, g.Ports)
	}
	s.answers(test, limit)
}

// loadTRex gives the nodes the image of TRex whose files are below root.
func loadTRex(t *testing.T, root string) {
	t.Helper()
	if root == "" {
		t.Fatal("-trex-root is missing: the root of an image of TRex")
	}
	files := map[string]string{}
	err := filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		inside, err := filepath.Rel(root, file)
		files[path.Join("/", filepath.ToSlash(inside))] = file
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := lab.Load(t.Context(), realTRex, files, pack.Config{}); err != nil {
		t.Fatal(err)
	}
}
