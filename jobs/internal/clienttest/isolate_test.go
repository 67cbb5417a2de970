package clienttest

import (
	"net"
	"os"
	"testing"
)

func TestMainIsolates(t *testing.T) {
	if os.Getenv(isolated) == "" {
		t.Skip("not isolated here")
	}
	interfaces, err := net.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range interfaces {
		if i.Flags&net.FlagLoopback == 0 && i.Flags&net.FlagUp != 0 {
			t.Errorf("%s is up", i.Name)
		}
	}
}
