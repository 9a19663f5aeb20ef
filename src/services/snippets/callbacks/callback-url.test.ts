import { expect, test } from 'vitest'
import { addressRules } from '../../../base/address-rules.ts'
import { callbackProblem } from './callback-url.ts'

const rules = addressRules({ reach: [], own: () => [] })

test.each([
  ['https://example.com/hook', undefined],
  ['http://8.8.8.8:8080/hook?a=b', undefined],
  ['ftp://example.com/', 'https'],
  ['file:///etc/passwd', 'https'],
  ['https://user:secret@example.com/', 'password'],
  ['example.com/hook', 'URL'],
  ['http://localhost/', 'this machine'],
  ['http://a.localhost./', 'this machine'],
  ['http://127.0.0.1/', 'public'],
  ['http://127.1/', 'public'],
  ['http://2130706433/', 'public'],
  ['http://0x7f000001/', 'public'],
  ['http://0177.0.0.1/', 'public'],
  ['http://[::1]/', 'public'],
  ['http://[::ffff:7f00:1]/', 'public'],
  ['http://169.254.169.254/latest/meta-data', 'public'],
  [`https://example.com/${'x'.repeat(2000)}`, 'longer'],
])('callbackProblem of %.50s: %s', (url, problem) => {
  const told = callbackProblem(url, rules)
  if (problem === undefined) expect(told).toBeUndefined()
  else expect(told).toContain(problem)
})
