/** The page as users have it: in a browser, with a worker that runs their code. */
import { expect, test } from 'vitest'
import { LOCAL_CALLER } from '../../src/model/caller.ts'
import { eventually } from '../../src/testing/eventually.ts'
import { describeWith } from '../../src/testing/require.ts'
import { open, outputOf, visit, write } from './browser.ts'
import { playgroundGrid } from './playground-grid.ts'

describeWith(['chromium', 'python3'], 'the playground in Chromium', () => {
  test('runs Python, and shows its output before it ends', async () => {
    const grid = await playgroundGrid()
    await grid.worker('python')
    const { page, complaints } = await visit(grid.url)
    expect(await page.locator('#language').inputValue()).toBe('python')
    expect(await page.locator('.cm-content').textContent()).toContain('Hello, {json.loads')
    await page.click('#run')
    await eventually(async () => expect(await page.textContent('#status')).toMatch(/^Done, exit code 0 · \d/))
    expect(await outputOf(page)).toBe('Hello, windlass\n')

    await write(page, 'print("first")\ninput()\nwhile True: pass')
    await page.fill('#stdin', 'x\n')
    await page.click('#run')
    await eventually(async () => expect(await outputOf(page)).toBe('first\n'))
    expect(await page.textContent('#status')).toBe('Running …')
    expect(await page.getAttribute('#run', 'aria-disabled')).toBe('true')
    await page.click('#stop')
    await eventually(async () => expect(await page.textContent('#status')).toMatch(/^Stopped/))
    expect(await outputOf(page)).toBe('first\n')
    expect(await page.getAttribute('#run', 'aria-disabled')).toBe('false')

    await write(page, 'import sys\nprint("out")\nprint("err", file=sys.stderr)\nsys.exit(3)')
    await page.click('#run')
    await eventually(async () => expect(await page.textContent('#status')).toMatch(/^Exit code 3 · .*s/))
    expect(await page.locator('#output .stderr').allTextContents()).toEqual(['err\n'])
    expect(complaints).toEqual([])
  })

  test('shows HTML and control characters in the output as text', async () => {
    const grid = await playgroundGrid()
    await grid.worker('python')
    const { page, complaints } = await visit(grid.url)
    const html = '<script>document.title="taken"</script><img src=x onerror="document.title=1"><b>bold</b>'
    await write(page, `print(${JSON.stringify(html)}); print("a\\0b\\x1b[31mred\\x1b[0m\\x07\\u202eabc\\x9b1m\\x7f")`)
    await page.click('#run')
    await eventually(async () => expect(await page.textContent('#status')).toMatch(/^Done/))
    expect(await outputOf(page)).toBe(`${html}\na␀b␛[31mred␛[0m␇\\u202eabc\\u009b1m␡\n`)
    expect(await page.title()).toBe('Windlass playground')
    expect(await page.locator('#output :not(span)').count()).toBe(0)

    await write(page, 'import sys\nfor i in range(40): sys.stdout.write(str(i % 10) * 100000)\nprint("the end")')
    await page.click('#run')
    await eventually(async () => expect(await page.textContent('#status')).toMatch(/^(Done|Too much)/))
    const flood = await outputOf(page)
    expect(flood.length).toBeLessThan(301_000)
    expect(flood).toMatch(/^\(only the last 300,000 characters are shown\)\n[\s\S]*9999the end\n/)
    expect(complaints).toEqual([])
  })

  test('shares a program by a link that restores it and does not run it', async () => {
    const grid = await playgroundGrid()
    await grid.worker('python', 'bash')
    const { page, context, complaints } = await visit(grid.url)
    const code = 'print("ä 日本 🎉 </script>")'
    await write(page, code)
    await page.fill('#stdin', 'some\ninput')
    await page.click('#share')
    await page.waitForSelector('#shared[open]')
    const link = await page.inputValue('#link')
    expect(link).toMatch(/\/play#v1\.[\w-]+$/)
    expect(page.url()).toBe(link)
    await page.click('#close')

    const other = await context.newPage()
    await open(other, link)
    expect(await other.locator('#language').inputValue()).toBe('python')
    expect(await other.locator('.cm-content').textContent()).toBe(code)
    expect(await other.inputValue('#stdin')).toBe('some\ninput')
    expect(await other.textContent('#status')).toBe('Nothing has run yet.')
    expect((await grid.engine.list(LOCAL_CALLER, {})).tasks).toEqual([])

    await other.selectOption('#language', 'bash')
    expect(await other.inputValue('#stdin')).not.toBe('some\ninput')
    await other.selectOption('#language', 'python')
    expect(await other.inputValue('#stdin')).toBe('some\ninput')

    await open(other, 'about:blank').catch(() => {})
    await open(other, `${link.slice(0, -20)}`)
    expect(await other.textContent('#notice')).toBe('This link holds no program that could be read.')
    expect(complaints).toEqual([])
  })

  test('can be used with the keyboard alone', async () => {
    const grid = await playgroundGrid()
    await grid.worker('python')
    const { page, complaints } = await visit(grid.url)
    const focused = () => page.evaluate('document.activeElement.id || document.activeElement.className')
    const seen: unknown[] = []
    for (let i = 0; i < 7; i++) {
      await page.keyboard.press('Tab')
      seen.push(await focused())
      // The focus must be visible.
      const style = 'getComputedStyle(document.activeElement.closest("#editor") ?? document.activeElement).outlineStyle'
      expect([await focused(), await page.evaluate(style)]).toEqual([seen.at(-1), 'solid'])
    }
    expect(seen.slice(0, 6)).toEqual(['language', 'version', 'theme', 'run', 'stop', 'share'])
    expect(seen[6]).toContain('cm-content')

    await page.keyboard.press('ControlOrMeta+a')
    await page.keyboard.type('if True:\nprint(input())')
    await page.keyboard.press('Home')
    await page.keyboard.press('Tab') // stays in the editor, and indents
    expect(await focused()).toContain('cm-content')
    await page.keyboard.press('Escape')
    await page.keyboard.press('Tab')
    expect(await focused()).toBe('stdin')
    await page.keyboard.press('ControlOrMeta+a')
    await page.keyboard.type('typed')
    await page.keyboard.press('ControlOrMeta+Enter')
    await eventually(async () => expect(await outputOf(page)).toBe('typed\n'))
    await page.keyboard.press('Tab')
    expect(await focused()).toBe('output')

    for (let i = 0; i < 2; i++) await page.keyboard.press('Shift+Tab')
    await page.keyboard.press('ControlOrMeta+a')
    await page.keyboard.type('while True: pass')
    await page.keyboard.press('ControlOrMeta+Enter')
    await eventually(async () => expect(await page.textContent('#status')).toBe('Running …'))
    await page.keyboard.press('Escape')
    for (let i = 0; i < 2; i++) await page.keyboard.press('Shift+Tab')
    expect(await focused()).toBe('stop')
    await page.keyboard.press('Enter')
    await eventually(async () => expect(await page.textContent('#status')).toMatch(/^Stopped/))
    expect(await focused()).toBe('stop')
    expect(complaints).toEqual([])
  })

  test('shows that no worker offers a language, and continues as soon as one does', async () => {
    const grid = await playgroundGrid()
    const { page, complaints } = await visit(grid.url)
    expect(await page.textContent('#notice')).toMatch(/^No worker offers a language/)
    await page.click('#run')
    expect(await page.textContent('#status')).toBe('Nothing has run yet.')
    await grid.worker('python')
    await eventually(async () => expect(await page.isHidden('#notice')).toBe(true))
    await page.click('#run')
    await eventually(async () => expect(await outputOf(page)).toBe('Hello, windlass\n'))
    expect(complaints).toEqual([])
  })

  test("follows the colour scheme of the system or the user's choice, and fits a phone", async () => {
    const grid = await playgroundGrid()
    await grid.worker('python')
    const size = { viewport: { width: 360, height: 640 }, colorScheme: 'dark' } as const
    const { page, complaints } = await visit(grid.url, size)
    const ground = () => page.evaluate('getComputedStyle(document.body).backgroundColor')
    expect(await ground()).toBe('rgb(20, 23, 28)')
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360)
    await page.selectOption('#theme', 'light')
    expect(await ground()).toBe('rgb(246, 247, 249)')
    await open(page, grid.url)
    expect(await ground()).toBe('rgb(246, 247, 249)')
    expect(complaints).toEqual([])
  })

  test('cancels its task when the user leaves the page', async () => {
    const grid = await playgroundGrid()
    await grid.worker('python')
    const { page } = await visit(grid.url)
    await write(page, 'while True: pass')
    await page.click('#run')
    await eventually(async () => expect(await page.textContent('#status')).toBe('Running …'))
    await page.goto('about:blank')
    await eventually(async () => {
      const { tasks } = await grid.engine.list(LOCAL_CALLER, {})
      expect(tasks.map(({ state }) => state)).toEqual(['cancelled'])
    })
  })
})
