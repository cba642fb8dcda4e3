// Versions holds the module files of this project to one set of versions: what two of them require, they
// require in the same version. So each package is compiled once for all programs, and tests use the libraries
// that the product is built with.
//
//	go run ./hack/versions         # name what differs, with what mends it
//	go run ./hack/versions align   # raise what is older to the newest version that a module file requires; asks the module proxy
//
// It reads module files only: checking needs no network.
package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"strings"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "versions:", err)
		os.Exit(1)
	}
}

func run(args []string, w io.Writer) error {
	switch strings.Join(args, " ") {
	case "":
		files, err := moduleFiles(".")
		if err != nil {
			return err
		}
		if wrong := check(files, exceptions); len(wrong) > 0 {
			return fmt.Errorf("module files differ:\n%s", strings.Join(wrong, "\n"))
		}
		return nil
	case "align":
		return align(w)
	default:
		return fmt.Errorf("arguments %q: none checks, align mends", args)
	}
}

// align raises what is older until nothing is: a version that is raised may require another to be.
func align(w io.Writer) error {
	for range 10 {
		files, err := moduleFiles(".")
		if err != nil {
			return err
		}
		raises := raises(files, exceptions)
		if len(raises) == 0 {
			return nil
		}
		for _, r := range raises {
			if err := r.apply(w); err != nil {
				return fmt.Errorf("raise versions in %s: %w (a version that its program can't be built with is an exception: hack/versions/exceptions.go)", r.file, err)
			}
		}
	}
	return fmt.Errorf("module files still differ after 10 rounds: go run ./hack/versions names what does")
}

// apply writes the newer versions, and has go add what these require. go get would do both, but takes each
// module for a package, too, with all that is imported there.
func (r raise) apply(w io.Writer) error {
	edit := []string{"mod", "edit"}
	for _, m := range r.modules {
		fmt.Fprintf(w, "%s: %s %s, was %s\n", r.file, m.path, m.newer, m.older)
		edit = append(edit, "-require="+m.path+"@"+m.newer)
	}
	dir, name := path.Split(r.file)
	settle := []string{"-C", path.Join(".", dir), "mod", "tidy"}
	if name != "go.mod" { // tidy would add what the packages beside it import
		settle = []string{"list", "-modfile=" + r.file, "-mod=mod", "-deps", "tool"}
	}
	for _, args := range [][]string{append(edit, r.file), settle} {
		if text, err := exec.Command("go", args...).CombinedOutput(); err != nil {
			return fmt.Errorf("go %s: %w: %s", strings.Join(args, " "), err, text)
		}
	}
	return nil
}
