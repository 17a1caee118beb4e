# PowerShell completion for sbx: asks sbx itself, so that it never knows less than the sbx that is installed.

Register-ArgumentCompleter -Native -CommandName 'sbx' -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    # Words as sbx would get them. The one at the cursor ends there.
    $words = @()
    $starts = @()
    $typed = ''
    $typedFrom = $cursorPosition
    foreach ($element in ($commandAst.CommandElements | Select-Object -Skip 1)) {
        $start = $element.Extent.StartOffset
        $end = $element.Extent.EndOffset
        if ($start -ge $cursorPosition) { break }
        $text = $element.Extent.Text
        if ($end -gt $cursorPosition) {
            $text = $text.Substring(0, $cursorPosition - $start) -replace '^[''"]', ''
        } elseif ($element -is [System.Management.Automation.Language.StringConstantExpressionAst]) {
            $text = $element.Value
        }
        if ($end -ge $cursorPosition) {
            $typed = $text
            $typedFrom = $start
            break
        }
        $words += $text
        $starts += $start
    }
    $words += $typed
    $starts += $typedFrom

    # In base64: some versions of PowerShell drop empty words and split at quotes.
    $json = ConvertTo-Json -InputObject $words -Compress
    $said = [Convert]::ToBase64String([Text.Encoding]::UTF8.GetBytes($json))
    $sbx = Get-Command -Name 'sbx' -CommandType Application -ErrorAction Ignore | Select-Object -First 1
    if ($null -eq $sbx) { return }
    $line = & $sbx completion complete powershell $said 2>$null | Select-Object -First 1
    if ([string]::IsNullOrEmpty($line)) { return '' }
    $answer = ConvertFrom-Json -InputObject $line

    $results = @()
    foreach ($item in $answer.items) {
        $results += [System.Management.Automation.CompletionResult]::new(
            $item.text, $item.look, 'ParameterValue', $item.tip)
    }
    if ($answer.local -ne '') {
        # Paths of this machine.
        $path = $typed.Substring($answer.before.Length)
        foreach ($found in [System.Management.Automation.CompletionCompleters]::CompleteFilename($path)) {
            if ($answer.local -eq 'folders' -and $found.ResultType -ne 'ProviderContainer') { continue }
            $results += [System.Management.Automation.CompletionResult]::new(
                $answer.before + $found.CompletionText, $found.ListItemText, $found.ResultType, $found.ToolTip)
        }
    }
    if ($answer.inner -ge 0) {
        # The command that is to run in the sandbox, as if it were one of this machine.
        $from = $starts[$answer.inner]
        $line = $commandAst.Extent.StartScriptPosition.GetFullScript()
        $inner = $line.Substring($from, $cursorPosition - $from)
        $results += (TabExpansion2 -inputScript $inner -cursorColumn $inner.Length).CompletionMatches
    }
    # Nothing at all would make PowerShell offer files.
    if ($results.Count -eq 0) { return '' }
    $results
}
