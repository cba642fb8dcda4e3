package ethtool

import (
	"encoding/binary"
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/host/netif"
)

// The ioctl's sizes (include/uapi/linux/ethtool.h).
const (
	statisticsSet = 1  // ETH_SS_STATS
	nameBytes     = 32 // ETH_GSTRING_LEN
	mostCounters  = 1 << 16
)

// Counters are the counters of an interface's driver (ethtool -S), by their names. A driver without counters has none.
func Counters(name string) (map[string]uint64, error) {
	count, err := counterCount(name)
	if err != nil || count == 0 {
		return nil, err
	}
	names := make([]byte, 12+count*nameBytes) // struct ethtool_gstrings
	binary.NativeEndian.PutUint32(names, unix.ETHTOOL_GSTRINGS)
	binary.NativeEndian.PutUint32(names[4:], statisticsSet)
	binary.NativeEndian.PutUint32(names[8:], uint32(count))
	if err := netif.Ethtool(name, unsafe.Pointer(&names[0])); err != nil {
		return nil, fmt.Errorf("read the names of the driver's counters of %s: %w", name, err)
	}
	values := make([]uint64, 1+count) // struct ethtool_stats: the command and the number, then the values
	binary.NativeEndian.PutUint32(unsafe.Slice((*byte)(unsafe.Pointer(&values[0])), 8), unix.ETHTOOL_GSTATS)
	binary.NativeEndian.PutUint32(unsafe.Slice((*byte)(unsafe.Pointer(&values[0])), 8)[4:], uint32(count))
	if err := netif.Ethtool(name, unsafe.Pointer(&values[0])); err != nil {
		return nil, fmt.Errorf("read the driver's counters of %s: %w", name, err)
	}
	counters := make(map[string]uint64, count)
	for i := range count {
		counters[unix.ByteSliceToString(names[12+i*nameBytes:12+(i+1)*nameBytes])] = values[1+i]
	}
	return counters, nil
}

// counterCount asks how many counters the driver has (ETHTOOL_GSSET_INFO). Drivers without any refuse the question.
func counterCount(name string) (int, error) {
	set := struct {
		command, _ uint32
		mask       uint64
		count, _   uint32
	}{command: unix.ETHTOOL_GSSET_INFO, mask: 1 << statisticsSet}
	err := netif.Ethtool(name, unsafe.Pointer(&set))
	switch {
	case errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.EINVAL):
		return 0, nil
	case err != nil:
		return 0, fmt.Errorf("ask for the driver's counters of %s: %w", name, err)
	case set.mask == 0:
		return 0, nil
	}
	return int(min(set.count, mostCounters)), nil
}
