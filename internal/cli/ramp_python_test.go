package cli

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
)

// trexStandIn is a folder that stands for TRex's Python library, for everybody to read.
func trexStandIn(t *testing.T) string {
	t.Helper()
	folder, err := os.MkdirTemp("", "trex-") //nolint:usetesting // nobody may not enter t.TempDir
	if err == nil {
		err = os.CopyFS(folder, os.DirFS("testdata/trex"))
	}
	if err == nil {
		err = filepath.WalkDir(folder, func(name string, _ os.DirEntry, err error) error {
			if err == nil {
				err = os.Chmod(name, 0o755)
			}
			return err
		})
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	if err != nil {
		t.Fatal(err)
	}
	return folder
}

// A profile of Python is loaded by TRex's library, as nobody, without the machine's network, and within its bounds.
func TestAProfileOfPython(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("needs python3")
	}
	trex := trexStandIn(t)
	for name, c := range map[string]struct{ text, fault string }{
		"which is good": {"def register(direction, port):\n    print('what it prints is not its streams')\n", ""},
		"which looks around": {"import os, socket\ndef register(direction, port):\n    raise Exception('user %d sees %s' % (os.getuid(), socket.if_nameindex()))\n",
			"Exception: user 65534 sees [(1, 'lo')]"},
		"which connects": {"import socket\ndef register(direction, port):\n    socket.create_connection(('127.0.0.1', 22), 1)\n",
			"Network is unreachable"},
		"which writes": {"import os\ndef register(direction, port):\n    os.write(os.open('/tmp/written-by-a-profile', os.O_CREAT | os.O_WRONLY), b'x')\n",
			"File too large"},
		"which takes all memory": {"def register(direction, port):\n    bytearray(3 << 30)\n", "MemoryError"},
		"which ends itself":      {"import os\ndef register(direction, port):\n    os._exit(0)\n", "no list of streams for each of two ports"},
		"which is wrong":         {"def register(:\n", "SyntaxError"},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "mine.py")
			if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			l, err := rampTraffic(t.Context(), file, trex)
			switch {
			case c.fault != "" && (err == nil || !strings.Contains(err.Error(), c.fault)):
				t.Errorf("%v, want …%s…", err, c.fault)
			case c.fault != "":
			case err != nil || len(l.sides[0].Streams) != 3 || len(l.sides[1].Streams) != 3:
				t.Errorf("%d and %d streams, %v", len(l.sides[0].Streams), len(l.sides[1].Streams), err)
			case l.label != "mine" || l.sides[0].Mix.Packets == 0:
				t.Errorf("%q, %v", l.label, l.sides[0].Mix)
			}
		})
	}
	_ = os.Remove("/tmp/written-by-a-profile")
	t.Run("which a LoadTest has", func(t *testing.T) {
		folder := t.TempDir()
		file, test := filepath.Join(folder, "mine.py"), filepath.Join(folder, "test.yaml")
		write := func(name, text string) {
			if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		write(file, "def register(direction, port):\n    pass\n")
		printed, stderr, code := typed(t, "", "mix", file, "--trex-dir", trex, "--port", "1")
		if code != report.ExitOK || !strings.HasPrefix(printed, "# mine.py: 3 streams of port 1, for one direction\n") {
			t.Fatalf("exit code %d: %s%s", code, printed, stderr)
		}
		write(test, "apiVersion: linerate.dev/v1alpha1\nkind: LoadTest\nmetadata: {name: x}\nspec:\n  dut: {type: Device}\n  links: [{name: west, lineRate: 1gbps}, {name: east, lineRate: 1gbps}]\n  "+
			strings.ReplaceAll(strings.TrimSuffix(printed, "\n"), "\n", "\n  ")+"\n    directions: [{from: east, to: west}]\n")
		loaded, err := readInputs(nil, []string{test})
		if err != nil {
			t.Fatal(err)
		}
		l, err := rampTraffic(t.Context(), file, trex)
		if east, _ := loaded.plans[0].Generators[0].PortOn("east"); err != nil || len(east.Streams) != 3 ||
			!reflect.DeepEqual(east.Streams, l.sides[1].Streams) {
			t.Errorf("%d streams from east, want those of ramp (%v)", len(east.Streams), err)
		}
		for _, args := range [][]string{{file}, {file, "--trex-dir", trex, "--port", "2"}, {file, "--trex-dir", folder}} {
			if _, stderr, code := typed(t, "", append([]string{"mix"}, args...)...); code != report.ExitBadInput {
				t.Errorf("%v: exit code %d: %s", args, code, stderr)
			}
		}
	})
	t.Run("which doesn't end", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "mine.py")
		if err := os.WriteFile(file, []byte("def register(direction, port):\n    while True: pass\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		began := time.Now()
		if _, err := rampTraffic(ctx, file, trex); err == nil || time.Since(began) > 30*time.Second {
			t.Errorf("%v after %s", err, time.Since(began))
		}
	})
	if _, err := rampTraffic(t.Context(), os.Args[0]+".py", trex); err == nil {
		t.Error("a file that isn't there")
	}
}
