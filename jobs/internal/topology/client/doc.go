// Package client tells what the real client resumes from a session file: which
// records it loads, where it lets the conversation end, which line it follows,
// what it puts in, bridges, drops and invents, and the order in which it sends
// the rest. It is written rule by rule as they were observed from outside; the
// letters in comments (L1, F2, W3, ...) are those of docs/client.md.
//
// Everything is a function of the file and a set of rules, which is named by the
// version of the client that was measured. Most rules are shared; where versions
// differ, a field of [Rules] says how.
package client
