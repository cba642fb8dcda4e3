package pack_test

import (
	"archive/tar"
	"crypto/sha256"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"github.com/linerate-dev/linerate/hack/image/pack"
)

const ref = "example.com/router:dev"

func TestPack(t *testing.T) {
	t.Run("the same files give the same archive, whenever they were made", func(t *testing.T) {
		var sums [2][sha256.Size]byte
		for i := range sums {
			files := map[string]string{"/router": local(t, "program", 0o700), "/etc/router/conf": local(t, "x=1", 0o600)}
			for _, f := range files {
				made := time.Date(2020+i, 1, 1, 0, 0, 0, 0, time.UTC)
				if err := os.Chtimes(f, made, made); err != nil {
					t.Fatal(err)
				}
			}
			sums[i] = sha256.Sum256(read(t, packed(t, files, pack.Config{})))
		}
		if sums[0] != sums[1] {
			t.Errorf("two archives of the same files: %x and %x", sums[0], sums[1])
		}
	})
	t.Run("other content gives another archive", func(t *testing.T) {
		one := packed(t, map[string]string{"/router": local(t, "program", 0o700)}, pack.Config{})
		other := packed(t, map[string]string{"/router": local(t, "Program", 0o700)}, pack.Config{})
		if sha256.Sum256(read(t, one)) == sha256.Sum256(read(t, other)) {
			t.Error("a changed program didn't change the archive")
		}
	})
	t.Run("files lie behind their folders, owned by root, with plain modes", func(t *testing.T) {
		out := packed(t, map[string]string{"/router": local(t, "program", 0o700), "/etc/router/conf": local(t, "x=1", 0o600)}, pack.Config{})
		want := []entry{
			{"etc", 0o755, 0, 0, 0, ""}, {"etc/router", 0o755, 0, 0, 0, ""},
			{"etc/router/conf", 0o644, 0, 0, 0, "x=1"}, {"router", 0o755, 0, 0, 0, "program"},
		}
		if diff := cmp.Diff(want, layout(t, out)); diff != "" {
			t.Errorf("layout (-want +got):\n%s", diff)
		}
	})
	t.Run("a file that has several names here is one file there, too", func(t *testing.T) {
		library := local(t, "library", 0o600)
		name := filepath.Join(t.TempDir(), "library.so")
		if err := os.Symlink(library, name); err != nil {
			t.Fatal(err)
		}
		out := packed(t, map[string]string{"/lib.so.1": library, "/lib.so": name}, pack.Config{})
		image, err := tarball.ImageFromPath(out, nil)
		if err != nil {
			t.Fatal(err)
		}
		var links []string
		for archive := tar.NewReader(mutate.Extract(image)); ; {
			header, err := archive.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			links = append(links, header.Name+" "+header.Linkname)
		}
		if diff := cmp.Diff([]string{"lib.so ", "lib.so.1 lib.so"}, links); diff != "" {
			t.Errorf("names and what they are links to (-want +got):\n%s", diff)
		}
	})
	t.Run("the image says how it starts", func(t *testing.T) {
		out := packed(t, map[string]string{"/router": local(t, "program", 0o700)},
			pack.Config{User: "1:2", Entrypoint: []string{"/router"}, Environment: []string{"A=b"}, Labels: map[string]string{"c": "d"}, Architecture: "arm64"})
		image, err := tarball.ImageFromPath(out, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := image.ConfigFile()
		if err != nil {
			t.Fatal(err)
		}
		if got.OS != "linux" || got.Architecture != "arm64" || got.Config.User != "1:2" || got.Config.Entrypoint[0] != "/router" ||
			got.Config.Env[0] != "A=b" || got.Config.Labels["c"] != "d" {
			t.Errorf("config %+v", got)
		}
	})
	t.Run("the archive names the image", func(t *testing.T) {
		manifest, err := tarball.LoadManifest(func() (io.ReadCloser, error) {
			return os.Open(packed(t, map[string]string{"/router": local(t, "program", 0o700)}, pack.Config{}))
		})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{ref}, manifest[0].RepoTags); diff != "" {
			t.Errorf("names (-want +got):\n%s", diff)
		}
	})
}

func TestPackRefuses(t *testing.T) {
	program := local(t, "program", 0o700)
	for name, c := range map[string]struct {
		ref   string
		files map[string]string
		want  string
	}{
		"no file":            {ref, nil, "no files"},
		"a relative path":    {ref, map[string]string{"router": program}, `"router"`},
		"a path with dots":   {ref, map[string]string{"/a/../router": program}, `"/a/../router"`},
		"the root":           {ref, map[string]string{"/": program}, `"/"`},
		"a missing file":     {ref, map[string]string{"/router": program + "x"}, "no such file"},
		"a folder":           {ref, map[string]string{"/router": filepath.Dir(program)}, "regular file"},
		"a name without tag": {"router", map[string]string{"/router": program}, `"router"`},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			err := pack.Pack(filepath.Join(dir, "image.tar"), c.ref, c.files, pack.Config{})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one that contains %s", err, c.want)
			}
			if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
				t.Errorf("left behind: %v %v", left, err)
			}
		})
	}
}

type entry struct {
	Name     string
	Mode     int64
	UID, GID int
	Time     int64
	Content  string
}

// layout is what a container of the image sees.
func layout(t *testing.T, archive string) []entry {
	t.Helper()
	image, err := tarball.ImageFromPath(archive, nil)
	if err != nil {
		t.Fatal(err)
	}
	content := mutate.Extract(image)
	defer func() { _ = content.Close() }()
	var entries []entry
	for r := tar.NewReader(content); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return entries
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, entry{h.Name, h.Mode, h.Uid, h.Gid, h.ModTime.Unix(), string(text)})
	}
}

func packed(t *testing.T, files map[string]string, config pack.Config) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "image.tar")
	if err := pack.Pack(out, ref, files, config); err != nil {
		t.Fatal(err)
	}
	return out
}

func local(t *testing.T, content string, mode os.FileMode) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
	return name
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return content
}
