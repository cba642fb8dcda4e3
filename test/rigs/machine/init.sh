#!/bin/busybox sh
# The machine's first program: it mounts the host's root below an overlay of memory, and hands over to the agent there.
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
while read -r module; do insmod "/modules/$module" || echo "linerate: $module can't be loaded"; done </modules/order
for word in $(cat /proc/cmdline); do
	case $word in linerate.agent=*) agent=${word#*=} ;; linerate.modules=*) modules=${word#*=} ;; esac
done
mount -t 9p -o trans=virtio,version=9p2000.L,msize=512000,ro,cache=readahead host /host
mount -t tmpfs memory /memory
mkdir /memory/upper /memory/work
mount -t overlay -o lowerdir=/host,upperdir=/memory/upper,workdir=/memory/work overlay /root
for dir in proc sys dev; do mount --move /$dir /root/$dir; done
mkdir -p /root/dev/pts /root/dev/shm /root/dev/hugepages /root/lib/modules /root/run
mount -t devpts -o ptmxmode=666 devpts /root/dev/pts
mount -t tmpfs shm /root/dev/shm
mount -t hugetlbfs hugepages /root/dev/hugepages
mount -t tmpfs run /root/run
mount -t cgroup2 cgroup2 /root/sys/fs/cgroup
mount -t bpf bpf /root/sys/fs/bpf
mkdir -p /root/run/lock /root/run/netns
[ -e "/root/lib/modules/$(uname -r)" ] || ln -s "$modules" "/root/lib/modules/$(uname -r)"
mount --make-rshared /root
exec switch_root -c /dev/console /root "$agent"
