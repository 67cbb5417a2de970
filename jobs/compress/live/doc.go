// Package live holds compressed sessions against the real client: what it sends
// when it resumes them is what it sent before, minus what was folded. It has
// tests only, which are skipped where the client is not installed.
package live
