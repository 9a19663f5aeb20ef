import { expect, test } from 'vitest'
import type { Docker } from '../../workflow/tool/docker.ts'
import { obtainImage } from './obtain-image.ts'

/** An engine with images, as `image inspect` prints their names; a pull or a build adds one. */
function engine(images: Readonly<Record<string, string>>, gained: Readonly<Record<string, string>> = {}) {
  const asked: string[] = []
  let now = images
  return {
    asked,
    obtain: (docker: Partial<Docker>) =>
      obtainImage({ required: true, ...docker }, async (words, input) => {
        asked.push([...words.slice(0, 2), ...(input === undefined ? [] : [input])].join(' '))
        const names = words[0] === 'image' ? now[words.at(-1) ?? ''] : undefined
        if (names !== undefined) return { isDone: true, stdout: names, problem: '' }
        if (words[0] === 'image') return { isDone: false, stdout: '', problem: 'no such image' }
        now = { ...now, ...gained }
        return { isDone: Object.keys(gained).length > 0, stdout: '', problem: 'denied' }
      }),
  }
}

test('an image that is present is used by its full name', async () => {
  const { obtain, asked } = engine({ 'tool:1': '["other:2","localhost/tool:1"] []' })
  expect(await obtain({ image: 'tool:1' })).toEqual({ image: 'localhost/tool:1' })
  expect(asked).toEqual(['image inspect'])
})

test('an image may be given by its id, with or without a name', async () => {
  expect(await engine({ f00: '["tool:1"] []' }).obtain({ image: 'f00' })).toEqual({ image: 'tool:1' })
  expect(await engine({ f00: 'null null' }).obtain({ image: 'f00' })).toEqual({ image: 'f00' })
})

test('an image that is not present is pulled, or built from a Dockerfile on standard input', async () => {
  const pulled = engine({}, { 'tool:1': '["tool:1"] []' })
  expect(await pulled.obtain({ image: 'tool:1' })).toEqual({ image: 'tool:1' })
  expect(pulled.asked).toEqual(['image inspect', 'pull tool:1', 'image inspect'])
  const built = engine({}, { 'mine:1': '["mine:1"] []' })
  expect(await built.obtain({ image: 'mine:1', file: 'FROM scratch' })).toEqual({ image: 'mine:1' })
  expect(built.asked[1]).toBe('build --tag FROM scratch')
})

test('an image that cannot be pulled is reported with the error of the engine', async () => {
  expect(await engine({}).obtain({ image: 'tool:1' })).toEqual({ trouble: 'the image tool:1 cannot be had: denied' })
})

test('an image name that begins with a dash is refused', async () => {
  await expect(engine({}).obtain({ image: '--privileged' })).rejects.toThrow('is no name of an image')
})
