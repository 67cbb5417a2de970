package clienttest

import (
	"os"
	"syscall"
	"unsafe"
)

// isolations are the ways into a network namespace: as root, and as anybody,
// through a user namespace in which the user keeps the id and may raise lo.
func isolations() []*syscall.SysProcAttr {
	const capNetAdmin = 12
	self := func(id int) []syscall.SysProcIDMap {
		return []syscall.SysProcIDMap{{ContainerID: id, HostID: id, Size: 1}}
	}
	return []*syscall.SysProcAttr{
		{Cloneflags: syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL},
		{
			Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET,
			Pdeathsig:   syscall.SIGKILL,
			UidMappings: self(os.Getuid()), GidMappings: self(os.Getgid()),
			AmbientCaps: []uintptr{capNetAdmin},
		},
	}
}

// raiseLoopback brings up lo, which a new network namespace has down.
func raiseLoopback() error {
	socket, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_DGRAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer syscall.Close(socket)
	request := struct { // the kernel's struct ifreq
		name  [16]byte
		flags uint16
		_     [22]byte
	}{flags: syscall.IFF_UP | syscall.IFF_RUNNING}
	copy(request.name[:], "lo")
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(socket), syscall.SIOCSIFFLAGS, uintptr(unsafe.Pointer(&request)))
	if errno != 0 {
		return errno
	}
	return nil
}
