const V4_PART = /^(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)$/;

function isV4(text: string): boolean {
  const parts = text.split('.');
  return parts.length === 4 && parts.every((part) => V4_PART.test(part));
}

function isV6(text: string): boolean {
  if (!/^[\da-f:.]+$/i.test(text)) return false;
  try {
    // The browser's own reading of one.
    return new URL(`http://[${text}]/`).host !== '';
  } catch {
    return false;
  }
}

/** Whether a text is a whole address, which alerts can be filtered by. */
export function isAddress(text: string): boolean {
  return isV4(text) || isV6(text);
}

/** What can be asked about: an address, or a range of them. */
export function isAddressOrRange(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/');
  if (bits === undefined) return isAddress(address);
  if (rest.length > 0 || !/^(?:0|[1-9]\d{0,2})$/.test(bits)) return false;
  return (isV4(address) && Number(bits) <= 32) || (isV6(address) && Number(bits) <= 128);
}
