package machine

import (
	"bytes"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// initScript mounts this host's root in the machine, and starts the agent there.
//
//go:embed init.sh
var initScript []byte

// rootModules are what the machine needs before it has a root.
var rootModules = []string{"virtio_pci", "virtio_console", "9p", "9pnet_virtio", "overlay"}

// writeInitramfs writes the image of the machine's first root: busybox, the modules of rootModules and the script.
func writeInitramfs(file string, k kernel) error {
	shell, err := exec.LookPath("busybox")
	if err != nil {
		return missing("busybox-static")
	}
	busybox, err := os.ReadFile(shell)
	if err != nil {
		return err
	}
	var image archive
	for _, dir := range []string{"bin", "modules", "proc", "sys", "dev", "host", "memory", "root"} {
		image.add(dir, dirMode, nil)
	}
	image.add("bin/busybox", fileMode, busybox)
	image.add("init", fileMode, initScript)
	modules, err := k.load(rootModules...)
	if err != nil {
		return err
	}
	var order bytes.Buffer
	for _, module := range modules {
		content, err := os.ReadFile(filepath.Join(k.modules, module))
		if err != nil {
			return err
		}
		image.add("modules/"+filepath.Base(module), fileMode, content)
		fmt.Fprintln(&order, filepath.Base(module))
	}
	image.add("modules/order", fileMode, order.Bytes())
	image.add("TRAILER!!!", 0, nil)
	return os.WriteFile(file, image.Bytes(), 0o644)
}

// archive is a cpio archive of the format newc (Linux, Documentation/driver-api/early-userspace/buffer-format.rst).
type archive struct {
	bytes.Buffer
	files int
}

const (
	dirMode  = 0o040755
	fileMode = 0o100755
)

func (a *archive) add(name string, mode int, content []byte) {
	a.files++
	links := 1
	_, _ = fmt.Fprintf(a, "070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%s\x00",
		a.files, mode, 0, 0, links, 0, len(content), 0, 0, 0, 0, len(name)+1, 0, name)
	a.align()
	a.Write(content)
	a.align()
}

func (a *archive) align() {
	for a.Len()%4 != 0 {
		a.WriteByte(0)
	}
}
