import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { onTestFinished } from 'vitest'
import { requireTool } from '../../src/testing/require.ts'

export interface Visit {
  readonly page: Page
  readonly context: BrowserContext
  /** Errors on the browser's console, exceptions, and violations of the page's content security policy. */
  readonly complaints: readonly string[]
}

/** A new browser on this page, once it is ready. */
export async function visit(url: string, options: BrowserContextOptions = {}): Promise<Visit> {
  const folder = mkdtempSync(join(tmpdir(), 'windlass-chromium-'))
  const isRoot = process.getuid?.() === 0
  const context = await chromium.launchPersistentContext(folder, {
    ...options,
    executablePath: requireTool('chromium').command ?? 'chromium',
    args: isRoot ? ['--no-sandbox', '--disable-dev-shm-usage'] : [],
  })
  onTestFinished(async () => {
    await context.close()
    rmSync(folder, { recursive: true, force: true })
  })
  const complaints: string[] = []
  await context.addInitScript(
    "addEventListener('securitypolicyviolation', (e) => console.error('policy: ' + e.violatedDirective + ' ' + e.blockedURI))",
  )
  const page = await context.newPage()
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(String(error)))
  await open(page, url)
  return { page, context, complaints }
}

export async function open(page: Page, url: string): Promise<void> {
  await page.goto(url)
  await page.waitForSelector('body:not([aria-busy])')
}

/** Pastes text into the editor. */
export async function write(page: Page, code: string): Promise<void> {
  await page.locator('.cm-content').focus()
  await page.keyboard.press('ControlOrMeta+a')
  await page.keyboard.insertText(code)
}

export const outputOf = async (page: Page): Promise<string> => (await page.locator('#output').textContent()) ?? ''
