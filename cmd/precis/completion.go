package main

import "github.com/spf13/cobra"

func (c *cli) completionVerb() *cobra.Command {
	shells := []string{"bash", "zsh", "fish", "powershell"}
	return &cobra.Command{
		Use:   "completion SHELL",
		Short: "Print a completion script for a shell",
		Long: `completion prints the script that lets a shell complete verbs, flags and names:
bash, zsh, fish or powershell.

EXIT STATUS
  0    printed
  2    there is no script for that shell, or the command line is wrong`,
		Example: `  source <(precis completion bash)
  precis completion zsh > "${fpath[1]}/_precis"
  precis completion fish > ~/.config/fish/completions/precis.fish`,
		Args:      between(1, 1, "one shell"),
		ValidArgs: shells,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch root := cmd.Root(); args[0] {
			case "bash":
				return root.GenBashCompletionV2(c.out, true)
			case "zsh":
				return root.GenZshCompletion(c.out)
			case "fish":
				return root.GenFishCompletion(c.out, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(c.out)
			}
			return usagef("one of bash, zsh, fish, powershell", "there is no completion for %q", args[0])
		},
	}
}
