package machine

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/test/rigs/built"
)

// kernel is a kernel's image and its modules.
type kernel struct {
	version string
	image   string // a file
	modules string // the folder lib/modules/VERSION
}

// cardModules are what an emulated machine with virtual functions wants of its kernel.
var cardModules = []string{"igb", "igbvf", "vfio-pci", "virtio_net", "nf_tables", "veth", "bridge"}

// findKernel finds a kernel that has what a machine needs: this host's own, else one in the cache, else Debian's
// package, which it unpacks there.
func findKernel(cache string, progress io.Writer) (kernel, error) {
	if k, ok := newestUsable("/"); ok {
		return k, nil
	}
	unpacked, err := inCache(cache, "machine-kernel", func(dir string) error {
		_, _ = fmt.Fprintln(progress, "machine: fetching Debian's kernel package, once: about 100 MB")
		return unpackKernel(dir)
	})
	if err != nil {
		return kernel{}, err
	}
	if k, ok := newestUsable(unpacked); ok {
		return k, nil
	}
	return kernel{}, fmt.Errorf("the kernel in %s lacks one of the modules %s: remove that folder, so that it is fetched "+
		"again", unpacked, strings.Join(slices.Concat(rootModules, cardModules), ", "))
}

// newestUsable is the newest kernel below a root that can be read and has all modules.
func newestUsable(root string) (kernel, bool) {
	images, err := filepath.Glob(filepath.Join(root, "boot", "vmlinuz-*"))
	if err != nil {
		return kernel{}, false
	}
	slices.SortFunc(images, compareVersions)
	for _, image := range slices.Backward(images) {
		version := strings.TrimPrefix(filepath.Base(image), "vmlinuz-")
		k := kernel{version: version, image: image, modules: filepath.Join(root, "lib", "modules", version)}
		file, err := os.Open(image)
		if err != nil {
			continue // not everybody may read it everywhere
		}
		_ = file.Close()
		if _, err := k.load(slices.Concat(rootModules, cardModules)...); err == nil {
			return k, true
		}
	}
	return kernel{}, false
}

// compareVersions compares texts with numbers in them.
func compareVersions(a, b string) int {
	for a != "" && b != "" {
		x, y := digits(a), digits(b)
		if x != "" && y != "" {
			long := max(len(x), len(y))
			if c := strings.Compare(zeros(long-len(x))+x, zeros(long-len(y))+y); c != 0 {
				return c
			}
			a, b = a[len(x):], b[len(y):]
			continue
		}
		if a[0] != b[0] {
			return int(a[0]) - int(b[0])
		}
		a, b = a[1:], b[1:]
	}
	return len(a) - len(b)
}

func zeros(count int) string { return strings.Repeat("0", count) }

// digits are what a text begins with.
func digits(text string) string { return text[:len(text)-len(strings.TrimLeft(text, "0123456789"))] }

// unpackKernel fetches and unpacks Debian's newest kernel package, and lists its modules' dependencies.
func unpackKernel(dir string) error {
	project, err := built.Project()
	if err != nil {
		return err
	}
	fetch := exec.Command(filepath.Join(project, "hack", "ci-packages"), "kernel", dir)
	if output, err := combinedOutput(fetch); err != nil {
		return fmt.Errorf("fetch a kernel: %w: %s (a kernel in /boot with the modules %s in /lib/modules serves as well)", err,
			output, strings.Join(cardModules, ", "))
	}
	packages, err := filepath.Glob(filepath.Join(dir, "*.deb"))
	if err != nil {
		return err
	}
	for _, file := range packages {
		if err := run("dpkg", "-x", file, dir); err != nil {
			return err
		}
		if err := os.Remove(file); err != nil {
			return err
		}
	}
	versions, err := filepath.Glob(filepath.Join(dir, "lib", "modules", "*"))
	if err != nil {
		return err
	}
	for _, version := range versions {
		if err := run("depmod", "-b", dir, filepath.Base(version)); err != nil {
			return err
		}
	}
	return nil
}

func run(name string, args ...string) error {
	if output, err := combinedOutput(exec.Command(name, args...)); err != nil {
		return fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, output)
	}
	return nil
}

// combinedOutput runs a command that ends with this process, however that ends: the kernel kills it with the thread
// that started it.
func combinedOutput(cmd *exec.Cmd) ([]byte, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: unix.SIGKILL}
	return cmd.CombinedOutput()
}

// load lists the modules' files, below k.modules, in the order in which they load. Those in the kernel's image need
// none.
func (k kernel) load(names ...string) ([]string, error) {
	inImage, err := k.lines("modules.builtin")
	if err != nil {
		return nil, err
	}
	needs, err := k.lines("modules.dep")
	if err != nil {
		return nil, err
	}
	builtin := map[string]bool{}
	for _, line := range inImage {
		builtin[moduleName(line)] = true
	}
	found := map[string][]string{}
	for _, line := range needs {
		file, dependencies, _ := strings.Cut(line, ":")
		wanted := strings.Fields(dependencies)
		slices.Reverse(wanted)
		found[moduleName(file)] = append(wanted, file)
	}
	var order []string
	for _, name := range names {
		name = moduleName(name)
		if builtin[name] {
			continue
		}
		files, ok := found[name]
		if !ok {
			return nil, fmt.Errorf("kernel %s has no module %s", k.version, name)
		}
		for _, file := range files {
			if !slices.Contains(order, file) {
				order = append(order, file)
			}
		}
	}
	return order, nil
}

// moduleName is what a module's file is called in the kernel.
func moduleName(file string) string {
	name, _, _ := strings.Cut(filepath.Base(file), ".ko")
	return strings.ReplaceAll(name, "-", "_")
}

func (k kernel) lines(name string) ([]string, error) {
	file, err := os.Open(filepath.Join(k.modules, name))
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	var lines []string
	scanner := bufio.NewScanner(file)
	for scanner.Scan() {
		lines = append(lines, scanner.Text())
	}
	return lines, scanner.Err()
}
