// Probe is what runs in the pods of this package's tests: it prints what the device plugin gave it, and waits for its end.
package main

import (
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

func main() {
	end := make(chan os.Signal, 1)
	signal.Notify(end, syscall.SIGTERM)
	for _, setting := range os.Environ() {
		if strings.HasPrefix(setting, "PCIDEVICE_") {
			fmt.Println(setting)
		}
	}
	<-end
}
