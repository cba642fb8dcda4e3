package outfile_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/linerate-dev/linerate/internal/host/outfile"
)

func modeOf(t *testing.T, name string) os.FileMode {
	t.Helper()
	info, err := os.Lstat(name)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode()
}

func write(t *testing.T, name, content string, mode os.FileMode) string {
	t.Helper()
	if err := os.WriteFile(name, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
	return name
}

// Root wrote a Report into a folder of somebody else's, who put a link to a secret in the unfinished file's place:
// the secret became readable by all.
func TestALinkInTheUnfinishedFilesPlaceChangesNoOtherFile(t *testing.T) {
	folder := t.TempDir()
	secret := write(t, filepath.Join(t.TempDir(), "secret"), "secret", 0o600)
	f, err := outfile.Create(filepath.Join(folder, "report.json"), outfile.ForAll)
	if err != nil {
		t.Fatal(err)
	}
	unfinished, err := filepath.Glob(filepath.Join(folder, ".linerate-*"))
	if err != nil || len(unfinished) != 1 {
		t.Fatalf("%q, %v", unfinished, err)
	}
	if err := os.Remove(unfinished[0]); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(secret, unfinished[0]); err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("report"); err != nil {
		t.Fatal(err)
	}
	_ = f.Place() // the name is the link now, or the file is refused
	if content, err := os.ReadFile(secret); err != nil || string(content) != "secret" || modeOf(t, secret) != 0o600 {
		t.Errorf("the secret is %q with mode %v (%v)", content, modeOf(t, secret), err)
	}
}

// The folder itself may be replaced by a link to another one.
func TestAFolderThatIsReplacedByALinkGetsNoFile(t *testing.T) {
	parent, other := t.TempDir(), t.TempDir()
	folder := filepath.Join(parent, "reports")
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	victim := write(t, filepath.Join(other, "report.json"), "somebody else's", 0o600)
	f, err := outfile.Create(filepath.Join(folder, "report.json"), outfile.ForAll)
	if err != nil {
		t.Fatal(err)
	}
	moved := filepath.Join(parent, "moved")
	if err := os.Rename(folder, moved); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(other, folder); err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("report"); err != nil {
		t.Fatal(err)
	}
	if err := f.Place(); err != nil {
		t.Fatal(err)
	}
	if content, err := os.ReadFile(victim); err != nil || string(content) != "somebody else's" || modeOf(t, victim) != 0o600 {
		t.Errorf("the other folder's file is %q (%v)", content, err)
	}
	if content, err := os.ReadFile(filepath.Join(moved, "report.json")); err != nil || string(content) != "report" {
		t.Errorf("the folder that was opened has %q, %v", content, err)
	}
}

// A link that stands under the final name is replaced, and what it leads to stays as it is.
func TestALinkUnderTheFilesNameIsReplaced(t *testing.T) {
	folder := t.TempDir()
	victim := write(t, filepath.Join(t.TempDir(), "victim"), "somebody else's", 0o600)
	name := filepath.Join(folder, "results.xml")
	if err := os.Symlink(victim, name); err != nil {
		t.Fatal(err)
	}
	if err := outfile.Write(name, []byte("results"), outfile.ForAll); err != nil {
		t.Fatal(err)
	}
	if content, err := os.ReadFile(victim); err != nil || string(content) != "somebody else's" {
		t.Errorf("what the link led to is %q, %v", content, err)
	}
	if mode := modeOf(t, name); mode != 0o644 {
		t.Errorf("the file's mode is %v", mode)
	}
}

func TestNobodyElseReadsAFileBeforeItIsPlaced(t *testing.T) {
	folder := t.TempDir()
	f, err := outfile.Create(filepath.Join(folder, "x"), outfile.ForAll)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := f.Stat(); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if err := f.Discard(); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) != 0 {
		t.Errorf("%v is left, %v", left, err)
	}
}
