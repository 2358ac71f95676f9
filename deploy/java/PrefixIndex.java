import de.bwaldvogel.mongo.backend.ValueComparator;
import de.bwaldvogel.mongo.bson.BsonRegularExpression;
import de.bwaldvogel.mongo.bson.Document;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Documents of one collection in the order of some of their fields, in memory. It names those that may match a query,
 * never fewer: whoever asks checks them against the whole query.
 */
final class PrefixIndex {
  /** Bounds of a range: before and behind every value. */
  private static final Object FIRST = new Object();

  private static final Object LAST = new Object();

  /** More combinations of values than this are not worth looking up one by one. */
  private static final int MOST_POINTS = 1000;

  private static final Comparator<Object> VALUES =
      (a, b) -> {
        int byRank = Integer.compare(rank(a), rank(b));
        if (byRank != 0 || rank(a) != 2) return byRank;
        // the server's comparison is slow, and most values are of these kinds
        if (a instanceof String && b instanceof String) return ((String) a).compareTo((String) b);
        if (a instanceof Instant && b instanceof Instant) return ((Instant) a).compareTo((Instant) b);
        if (a instanceof Integer && b instanceof Integer) return ((Integer) a).compareTo((Integer) b);
        return ValueComparator.asc().compare(a, b);
      };

  /** A key stands in front of all that begin with it. */
  private static final Comparator<List<Object>> KEYS =
      (a, b) -> {
        for (int i = 0; i < Math.min(a.size(), b.size()); i += 1) {
          int order = VALUES.compare(a.get(i), b.get(i));
          if (order != 0) return order;
        }
        return Integer.compare(a.size(), b.size());
      };

  private final List<String> fields;
  private final List<String[]> paths = new ArrayList<>();
  private final NavigableMap<List<Object>, Set<Object>> positions = new TreeMap<>(KEYS);
  private final Map<Object, List<Object>> keys = new HashMap<>();

  /** Documents that have the first field at all. In the order it counts for null where it is not there. */
  private final Set<Object> present = new LinkedHashSet<>();

  /** Documents with an array on the way: they match in more ways than one key can say, and are always named. */
  private final Set<Object> withArrays = new LinkedHashSet<>();

  PrefixIndex(List<String> fields) {
    this.fields = fields;
    for (String field : fields) paths.add(field.split("\\."));
  }

  void put(Object position, Document document) {
    List<Object> key = keyOf(document);
    List<Object> before = keys.get(position);
    if (has(document, paths.get(0))) present.add(position);
    else present.remove(position);
    if (key != null && before != null && KEYS.compare(key, before) == 0) return;
    take(position);
    if (key == null) {
      withArrays.add(position);
      return;
    }
    keys.put(position, key);
    positions.computeIfAbsent(key, k -> new TreeSet<>(VALUES)).add(position);
  }

  void remove(Object position) {
    present.remove(position);
    take(position);
  }

  private void take(Object position) {
    withArrays.remove(position);
    List<Object> key = keys.remove(position);
    if (key == null) return;
    Set<Object> same = positions.get(key);
    same.remove(position);
    if (same.isEmpty()) positions.remove(key);
  }

  /** What may match, or null when this index says nothing about the query or names more than so many. */
  List<Object> candidates(Document query, int most) {
    List<NavigableMap<List<Object>, Set<Object>>> parts = partsFor(query);
    if (parts == null && asksPresence(query.get(fields.get(0))))
      return present.size() > most ? null : new ArrayList<>(present);
    if (parts == null || withArrays.size() > most) return null;
    List<Object> found = new ArrayList<>(withArrays);
    for (NavigableMap<List<Object>, Set<Object>> part : parts) {
      for (Set<Object> same : part.values()) {
        found.addAll(same);
        if (found.size() > most) return null;
      }
    }
    return found;
  }

  /**
   * What may match in the order asked for, or null when this index is not in that order. The fields in front of those
   * of the order must each be fixed to one value by the query.
   */
  Iterable<Set<Object>> inOrder(Document query, Document orderBy) {
    if (!withArrays.isEmpty()) return null;
    List<Object> fixed = new ArrayList<>();
    List<String> order = new ArrayList<>(orderBy.keySet());
    while (fixed.size() < fields.size() && !fields.get(fixed.size()).equals(order.get(0))) {
      List<Object> points = pointsOf(query, fields.get(fixed.size()));
      if (points == null || points.size() != 1) return null;
      fixed.add(points.get(0));
    }
    List<String> rest = fields.subList(fixed.size(), fields.size());
    if (rest.size() < order.size() || !rest.subList(0, order.size()).equals(order)) return null;
    NavigableMap<List<Object>, Set<Object>> part = rangeOf(fixed, query.get(order.get(0)));
    boolean ascending = isAscending(orderBy.get(order.get(0)));
    for (String field : order) if (isAscending(orderBy.get(field)) != ascending) return null;
    return (ascending ? part : part.descendingMap()).values();
  }

  private List<NavigableMap<List<Object>, Set<Object>>> partsFor(Document query) {
    List<List<Object>> prefixes = new ArrayList<>();
    prefixes.add(new ArrayList<>());
    int used = 0;
    while (used < fields.size()) {
      List<Object> points = pointsOf(query, fields.get(used));
      if (points == null || points.size() * prefixes.size() > MOST_POINTS) break;
      List<List<Object>> longer = new ArrayList<>();
      for (List<Object> prefix : prefixes) {
        for (Object point : points) {
          List<Object> one = new ArrayList<>(prefix);
          one.add(point);
          longer.add(one);
        }
      }
      prefixes = longer;
      used += 1;
    }
    Object next = used < fields.size() && query.containsKey(fields.get(used)) ? query.get(fields.get(used)) : null;
    if (used == 0 && !isRange(next)) return null;
    List<NavigableMap<List<Object>, Set<Object>>> parts = new ArrayList<>();
    for (List<Object> prefix : prefixes) parts.add(rangeOf(prefix, next));
    return parts;
  }

  /** The values that the query fixes this field to, each once; null when it fixes none. */
  private static List<Object> pointsOf(Document query, String field) {
    if (!query.containsKey(field)) return null;
    Object condition = query.get(field);
    Collection<?> wanted = Collections.singletonList(condition);
    if (condition instanceof Document) {
      Document asked = (Document) condition;
      if (asked.get("$in") instanceof Collection) wanted = (Collection<?>) asked.get("$in");
      else if (asked.containsKey("$eq")) wanted = Collections.singletonList(asked.get("$eq"));
      else return null;
    }
    Set<Object> points = new TreeSet<>(VALUES);
    for (Object each : wanted) {
      if (!isPlain(each)) return null;
      points.add(each);
    }
    return new ArrayList<>(points);
  }

  private static boolean isPlain(Object value) {
    return !(value instanceof Collection)
        && !(value instanceof Document)
        && !BsonRegularExpression.isRegularExpression(value);
  }

  private static boolean isRange(Object condition) {
    return condition instanceof Document && (lowest(condition) != FIRST || highest(condition) != LAST);
  }

  private NavigableMap<List<Object>, Set<Object>> rangeOf(List<Object> prefix, Object condition) {
    List<Object> from = new ArrayList<>(prefix);
    List<Object> to = new ArrayList<>(prefix);
    if (prefix.size() < fields.size()) {
      from.add(lowest(condition));
      to.add(highest(condition));
      // behind every key that goes on from the highest value
      to.add(LAST);
    }
    if (KEYS.compare(from, to) > 0) return new TreeMap<>(KEYS);
    return positions.subMap(from, true, to, true);
  }

  private static Object lowest(Object condition) {
    if (!(condition instanceof Document)) return FIRST;
    Document asked = (Document) condition;
    Object bound = asked.containsKey("$gte") ? asked.get("$gte") : asked.get("$gt");
    return bound != null && isPlain(bound) ? bound : FIRST;
  }

  private static Object highest(Object condition) {
    if (!(condition instanceof Document)) return LAST;
    Document asked = (Document) condition;
    Object bound = asked.containsKey("$lte") ? asked.get("$lte") : asked.get("$lt");
    return bound != null && isPlain(bound) ? bound : LAST;
  }

  private static boolean asksPresence(Object condition) {
    return condition instanceof Document && Boolean.TRUE.equals(((Document) condition).get("$exists"));
  }

  private static boolean isAscending(Object direction) {
    return direction instanceof Number && ((Number) direction).intValue() > 0;
  }

  /** Null for a document with an array on the way to one of the fields. */
  private List<Object> keyOf(Document document) {
    List<Object> key = new ArrayList<>(paths.size());
    for (String[] path : paths) {
      Object value = valueOf(document, path);
      if (value instanceof Collection) return null;
      key.add(value);
    }
    return key;
  }

  /** The value at the end of a path, null where there is none; an array wherever one stands on it. */
  private static Object valueOf(Document document, String[] path) {
    Object value = document;
    for (String part : path) {
      if (!(value instanceof Document)) return value instanceof Collection ? value : null;
      value = ((Document) value).get(part);
      if (value == null) return null;
    }
    return value;
  }

  private static boolean has(Document document, String[] path) {
    Object value = document;
    for (String part : path) {
      // an array may have it in one of its elements
      if (value instanceof Collection) return true;
      if (!(value instanceof Document) || !((Document) value).containsKey(part)) return false;
      value = ((Document) value).get(part);
    }
    return true;
  }

  private static int rank(Object value) {
    if (value == FIRST) return 0;
    if (value == null) return 1;
    return value == LAST ? 3 : 2;
  }
}
