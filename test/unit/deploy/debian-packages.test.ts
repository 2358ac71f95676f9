import { expect, test } from '@jest/globals';
import { pickMirror } from '../../../deploy/local/debian-packages.js';

test('the mirror is the machine’s own, and not the one of security updates', () => {
  const targets = [
    'Debian|bookworm-security|http://one.example/debian-security/',
    'Other|nodistro|https://two.example/node/',
    'Debian|bookworm|http://three.example/debian/',
  ];
  expect(pickMirror(targets.join('\n'))).toBe('http://three.example/debian/');
});

test('a mirror of another address is known by its origin, and one whose lists are not here yet by its address', () => {
  expect(pickMirror('Debian|trixie|https://mirror.example/cached-packages/\n')).toBe(
    'https://mirror.example/cached-packages/',
  );
  expect(pickMirror('|trixie|https://mirror.example/debian\n')).toBe('https://mirror.example/debian');
});

test('the sources of another distribution have none', () => {
  expect(pickMirror('Ubuntu|noble|http://archive.example/ubuntu/\n')).toBeNull();
  expect(pickMirror('')).toBeNull();
});
