package fsys

// Processes tells about the programs that run beside this one, to find out who
// may still write to a file. What a system cannot tell is
// errors.ErrUnsupported.
type Processes interface {
	// OpenBy lists the other processes that have a file open, for reading or
	// writing and under whatever name, in ascending order. Processes that hide
	// their files from the user are left out, and so are those that have only
	// mapped the file into memory.
	OpenBy(name string) ([]int, error)
	// Alive tells whether there is a process of that number, whoever's it is. One
	// that has ended is there until its parent has taken notice.
	Alive(pid int) (bool, error)
	// Started identifies the start of a process: another process that is later
	// given the same number has another one. The error is fs.ErrNotExist when
	// there is no such process.
	Started(pid int) (string, error)
}
