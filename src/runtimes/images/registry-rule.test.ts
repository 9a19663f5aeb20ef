import { expect, test } from 'vitest'
import { registryProblem } from './registry-rule.ts'

test.each(['docker.io', 'ghcr.io', 'quay.io:443', '8.8.8.8:5000', 'mirror.corp:5000'])(
  'images of the public registry %s are allowed',
  (registry) => {
    expect(registryProblem(registry, undefined)).toBeUndefined()
  },
)

test.each([
  ...['localhost', 'localhost:5000', 'a.localhost:80', '127.0.0.1:8080', '127.1:80', '2130706433:80', '0x7f000001:80'],
  ...['0177.0.0.1', '10.0.0.5:5000', '192.168.1.1', '169.254.169.254', '100.64.1.1', '[::1]:5000', '[fd00::1]'],
  ...['[::ffff:7f00:1]:80', '0.0.0.0:80'],
])('images of the local or private registry %s are refused unless it is listed', (registry) => {
  expect(registryProblem(registry, undefined)).toContain('worker.docker.registries')
  expect(registryProblem(registry, [registry])).toBeUndefined()
})

test('with a list, registries outside of it are refused', () => {
  expect(registryProblem('docker.io', ['ghcr.io'])).toContain('not listed')
})
