//go:build !linux

package clienttest

import "syscall"

func isolations() []*syscall.SysProcAttr { return nil }

func raiseLoopback() error { return nil }
