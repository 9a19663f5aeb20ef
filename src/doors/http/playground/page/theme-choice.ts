const KEY = 'windlass.theme'

/** Light, dark, or the system's theme. The choice is stored in this browser, if it permits that. */
export function themeChoice(select: HTMLSelectElement, changed: (isDark: boolean) => void): void {
  const system = matchMedia('(prefers-color-scheme: dark)')
  const apply = (): void => {
    const chosen = select.value
    document.documentElement.style.colorScheme = chosen === '' ? 'light dark' : chosen
    changed(chosen === '' ? system.matches : chosen === 'dark')
  }
  select.value = kept()
  if (select.selectedIndex < 0) select.value = ''
  select.addEventListener('change', () => {
    keep(select.value)
    apply()
  })
  system.addEventListener('change', apply)
  apply()
}

function kept(): string {
  try {
    return localStorage.getItem(KEY) ?? ''
  } catch {
    return '' // a browser may forbid storage
  }
}

function keep(theme: string): void {
  try {
    localStorage.setItem(KEY, theme)
  } catch {}
}
