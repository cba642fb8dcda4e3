package machine

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/procfs"

	"github.com/linerate-dev/linerate/internal/host/signs"
)

// frequencies are how fast the processors ran lately, as cpufreq has it, or /proc/cpuinfo where there is no cpufreq.
func (r *SignsReader) frequencies(kernel procfs.FS) ([]signs.Value, error) {
	if err := r.frequenciesAreFree(); err != nil {
		return nil, err
	}
	files, err := filepath.Glob(filepath.Join(cmp.Or(r.Sys, "/sys"),
		"devices/system/cpu/cpu[0-9]*/cpufreq/scaling_cur_freq"))
	if err != nil {
		return nil, fmt.Errorf("this machine's cpufreq can't be read: %w", err)
	}
	byProcessor := map[int]float64{}
	for _, file := range files {
		number, err := strconv.Atoi(strings.TrimPrefix(filepath.Base(filepath.Dir(filepath.Dir(file))), "cpu"))
		if err != nil {
			continue // no processor's
		}
		kilohertz, err := numberIn(file)
		if err != nil {
			continue // the processor was switched off
		}
		byProcessor[number] = 1e3 * kilohertz
	}
	if len(byProcessor) == 0 {
		if byProcessor, err = frequenciesInCPUInfo(kernel); err != nil {
			return nil, err
		}
	}
	return perProcessor(byProcessor), nil
}

// frequenciesAreFree says why reading frequencies would disturb the device. On x86, kernels before Linux 5.19
// interrupt each processor whose frequency is read, while later kernels answer from what they noted at the last
// tick.
func (r *SignsReader) frequenciesAreFree() error {
	if r.architecture() != "amd64" {
		return nil
	}
	release, err := os.ReadFile(filepath.Join(cmp.Or(r.Proc, procfs.DefaultMountPoint), "sys/kernel/osrelease"))
	if err != nil {
		return fmt.Errorf("which kernel this machine has can't be read: %w", err)
	}
	var major, minor int
	if _, err := fmt.Sscanf(string(release), "%d.%d", &major, &minor); err != nil {
		return fmt.Errorf("this machine's kernel is of no known version: %q", strings.TrimSpace(string(release)))
	}
	if major < 5 || major == 5 && minor < 19 {
		return fmt.Errorf("the kernel of this machine, %s, interrupts each processor to tell its frequency, which would disturb the device: Linux 5.19 and later don't", strings.TrimSpace(string(release)))
	}
	return nil
}

// frequenciesInCPUInfo are those that /proc/cpuinfo has. Without aperfmperf that number is what the processor is
// sold as, whatever it does.
func frequenciesInCPUInfo(kernel procfs.FS) (map[int]float64, error) {
	infos, err := kernel.CPUInfo()
	if err != nil {
		return nil, fmt.Errorf("this machine's /proc/cpuinfo can't be read: %w", err)
	}
	byProcessor := map[int]float64{}
	for _, c := range infos {
		if c.CPUMHz > 0 && slices.Contains(c.Flags, "aperfmperf") {
			byProcessor[int(c.Processor)] = 1e6 * c.CPUMHz
		}
	}
	if len(byProcessor) == 0 {
		return nil, errors.New("this machine's processors don't say how fast they run: its kernel has no cpufreq, and /proc/cpuinfo the nominal frequency at most, as in most virtual machines")
	}
	return byProcessor, nil
}

// perProcessor are each processor's where there are few, and the lowest, mean and highest.
func perProcessor(byProcessor map[int]float64) (values []signs.Value) {
	var frequencies []float64
	var numbers []int
	for n, hertz := range byProcessor {
		numbers, frequencies = append(numbers, n), append(frequencies, hertz)
	}
	slices.Sort(numbers)
	lowest, mean, highest := spread(frequencies)
	values = []signs.Value{{Series: "lowest", Number: lowest}, {Series: "mean", Number: mean},
		{Series: "highest", Number: highest}}
	if len(numbers) > signs.MostEach {
		return append(values, signs.Value{Series: "frequency",
			Missing: fmt.Sprintf("the machine has %d processors, and of more than %d not each has a series: say lowest, mean or highest", len(numbers), signs.MostEach)})
	}
	for _, n := range numbers {
		values = append(values, signs.Value{Series: "frequency", Part: fmt.Sprintf("processor %d", n),
			Number: byProcessor[n]})
	}
	return values
}

// numberIn is the number that is all that a file has.
func numberIn(file string) (float64, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	return strconv.ParseFloat(strings.TrimSpace(string(text)), 64)
}
