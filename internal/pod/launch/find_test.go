package launch

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"os"
	"runtime"
	"testing"
	"testing/fstest"
)

func TestFind(t *testing.T) {
	for _, c := range []struct {
		name, asked string
		tree        fstest.MapFS
		want        string
		code        Code
		words       string
	}{
		{"where it was said to be", "/somewhere", program("somewhere/_t-rex-64"), "/somewhere", "", ""},
		{"in a clone's scripts folder", "/src", program("src/scripts/_t-rex-64"), "/src/scripts", "", ""},
		{"in a usual place", "", program("opt/trex/_t-rex-64"), "/opt/trex", "", ""},
		{"the latest release of several", "", program("opt/trex/v3.06/_t-rex-64", "opt/trex/v3.08/_t-rex-64"),
			"/opt/trex/v3.08", "", ""},
		{"nowhere", "", fstest.MapFS{}, "", TRexNotFound, "/opt/trex, /opt/trex/scripts"},
		{"not where it was said to be", "/x", program("opt/trex/_t-rex-64"), "", TRexNotFound, "in /x, /x/scripts"},
		{"not executable", "/x", fstest.MapFS{"x/_t-rex-64": {Data: []byte("#!"), Mode: 0o644}}, "", TRexNotFound,
			"chmod"},
		{"of another machine", "/x", fstest.MapFS{"x/_t-rex-64": {Data: elfHeader(183), Mode: 0o755}}, "",
			WrongArchitecture, "EM_AARCH64"},
		{"of this machine", "/x", fstest.MapFS{"x/_t-rex-64": {Data: elfHeader(62), Mode: 0o755}}, "/x", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			found, err := Find(c.tree, c.asked, "amd64")
			if c.code == "" {
				if err != nil || found.Directory != c.want {
					t.Errorf("%+v, %v", found, err)
				}
				return
			}
			if f, ok := errors.AsType[Fault](err); !ok || f.Code != c.code || !contains(err, c.words) {
				t.Errorf("error %v, want %s with %q", err, c.code, c.words)
			}
		})
	}
}

func program(names ...string) fstest.MapFS {
	tree := fstest.MapFS{}
	for _, name := range names {
		tree[name] = &fstest.MapFile{Data: []byte("#!/bin/sh\n"), Mode: 0o755}
	}
	return tree
}

// elfHeader is an executable without any content, for a machine as elf.Machine numbers it.
func elfHeader(machine uint16) []byte {
	h := make([]byte, 64)
	copy(h, "\x7fELF\x02\x01\x01")
	binary.LittleEndian.PutUint16(h[16:], 2)
	binary.LittleEndian.PutUint16(h[18:], machine)
	binary.LittleEndian.PutUint32(h[20:], 1)
	binary.LittleEndian.PutUint16(h[52:], 64)
	binary.LittleEndian.PutUint16(h[54:], 56)
	binary.LittleEndian.PutUint16(h[58:], 64)
	return h
}

func TestLibrariesAreLookedForBeforeTheLoaderDoes(t *testing.T) {
	text, err := os.ReadFile("/bin/sh") // any dynamically linked program of this machine
	if err != nil {
		t.Fatal(err)
	}
	sh, err := elf.NewFile(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	needed, err := sh.ImportedLibraries()
	if err != nil || len(needed) == 0 {
		t.Fatalf("/bin/sh needs %v, %v: this test wants one that is dynamically linked", needed, err)
	}
	tree := fstest.MapFS{"x/_t-rex-64": {Data: text, Mode: 0o755}}
	refused := func(words string) {
		t.Helper()
		_, err := Find(tree, "/x", runtime.GOARCH)
		if f, ok := errors.AsType[Fault](err); !ok || f.Code != MissingLibrary || !contains(err, words) {
			t.Errorf("error %v, want %s with %q", err, MissingLibrary, words)
		}
	}
	refused(interpreter(sh))
	tree[inside(interpreter(sh))] = &fstest.MapFile{}
	refused(needed[0])
	tree["etc/ld.so.conf.d/own.conf"] = &fstest.MapFile{Data: []byte("# ours\n/own/lib\n")}
	for i, name := range needed {
		tree[[]string{"x/", "own/lib/"}[i%2]+name] = &fstest.MapFile{}
	}
	if _, err := Find(tree, "/x", runtime.GOARCH); err != nil {
		t.Error(err)
	}
}
