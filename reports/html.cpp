// registry: html
//
// A comparison as one page: no script, nothing loaded, the same bytes for the same comparison. The
// finding first, then the numbers and charts behind it, then what was read, assumed and meant.
#include <fmt/format.h>

#include <algorithm>

#include "reports/charts.hpp"
#include "reports/numbers.hpp"
#include "reports/page_style.hpp"
#include "reports/svg.hpp"
#include "reports/writer.hpp"

namespace rehearse::reports {
namespace {

// Rows of one table before the rest is only counted.
constexpr std::size_t rows_max = 200;
constexpr std::size_t timelines_max = 6;

std::string file_name(const std::string& path) {
  const std::size_t slash = path.find_last_of('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

// Good and bad news by words first; the colour only repeats them.
std::string change_cell(Wide before, Wide after, std::int64_t min_effect_ppm) {
  const std::string text = change_text(before, after);
  const Wide distance = after > before ? after - before : before - after;
  const bool big = distance * 1'000'000 >= std::min(before, after) * min_effect_ppm;
  const std::string_view style = !big || before == after ? "n"
                                 : after < before        ? "n good"
                                                         : "n bad";
  return fmt::format("<td class=\"{}\">{}</td>", style, text);
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Escaped, with arrows, and with blanks that keep a number and its unit on one line.
std::string prose(std::string_view text) {
  constexpr std::string_view blank = "\u00a0";
  constexpr std::string_view units[] = {"ns", "us", "ms", "s", "min", "h", "d"};
  const std::string plain = escaped(text);
  std::string result;
  for (std::string_view rest = plain; !rest.empty();) {
    if (rest.starts_with(" -&gt; ")) {
      result += fmt::format("{}\u2192 ", blank);
      rest.remove_prefix(std::string_view(" -&gt; ").size());
      continue;
    }
    const bool after_digit = !result.empty() && is_digit(result.back());
    const bool unit = after_digit && std::ranges::any_of(units, [&](std::string_view name) {
                        const std::string_view tail =
                            rest.substr(std::min(rest.size(), name.size() + 1));
                        return rest.substr(1).starts_with(name) &&
                               (tail.empty() || std::string_view(" ,;.:)(").contains(tail[0]));
                      });
    if (rest.front() == ' ' && unit) {
      result += blank;
    } else {
      result += rest.front();
    }
    rest.remove_prefix(1);
  }
  return result;
}

// The unit stands in the head of the table.
std::string slot_seconds_text(Wide slot_ns) {
  const std::string text = slot_time_text(slot_ns, true);
  return text.substr(0, text.find(' '));
}

class Page {
 public:
  explicit Page(const CompareDocument& document)
      : document_(document), comparison_(document.comparison) {}

  std::string write() {
    head();
    finding();
    key_numbers();
    latency();
    changes();
    prices();
    timelines();
    losers();
    marking();
    assumptions();
    warnings();
    meanings();
    out_ += fmt::format(
        "<footer><p>rehearse {}. Journal of the baseline {}.</p></footer>\n</body>\n</html>\n",
        escaped(document_.envelope.version),
        hash_text(comparison_.configurations.front().journal_hash));
    return std::move(out_);
  }

 private:
  void add(std::string_view text) { out_ += text; }
  void paragraph(std::string_view text, std::string_view style = {}) {
    out_ += style.empty() ? fmt::format("<p>{}</p>\n", prose(text))
                          : fmt::format("<p class=\"{}\">{}</p>\n", style, prose(text));
  }
  void heading(std::string_view text) { out_ += fmt::format("<h2>{}</h2>\n", escaped(text)); }
  void figure(const Chart& chart, std::string_view caption) {
    if (chart.svg.empty()) {
      return;
    }
    out_ +=
        fmt::format("<figure>\n{}<figcaption>{}{}{}</figcaption>\n</figure>\n", chart.svg,
                    escaped(caption), chart.left_out.empty() ? "" : " ", escaped(chart.left_out));
  }
  void more(std::size_t all, std::string_view noun) {
    if (all > rows_max) {
      paragraph(fmt::format("{} more {} are not listed.", all - rows_max, noun), "note");
    }
  }

  void head();
  void finding();
  void key_numbers();
  void dist_table(const DistTable& dists);
  void count_table();
  void latency();
  void changes();
  void prices();
  void swatches();
  void timelines();
  void losers();
  void marking();
  void assumptions();
  void warnings();
  void meanings();

  const CompareDocument& document_;
  const Comparison& comparison_;
  std::string out_;
};

void Page::head() {
  std::vector<std::string> names;
  names.reserve(comparison_.configurations.size());
  for (const Configuration& configuration : comparison_.configurations) {
    names.push_back(configuration.name);
  }
  std::vector<std::string> inputs;
  inputs.reserve(document_.envelope.inputs.size());
  for (const Input& input : document_.envelope.inputs) {
    inputs.push_back(file_name(input.path));
  }
  const std::string title = fmt::format("{}", fmt::join(names, " / "));
  out_ += fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "'unsafe-inline'\">\n<title>{} - rehearse compare</title>\n<style>{}</style>\n</head>\n"
      "<body>\n{}<p class=\"kicker\">Comparison of {} over {}{}</p>\n",
      escaped(title), page_style(), page_patterns(),
      escaped(fmt::format("{}", fmt::join(names, ", "))),
      escaped(inputs.empty() ? "one input" : fmt::format("{}", fmt::join(inputs, ", "))),
      document_.envelope.complete ? "" : " - incomplete");
}

void Page::finding() {
  const Finding& found = comparison_.finding;
  out_ += fmt::format("<h1>{}</h1>\n<div class=\"details\">\n", prose(found.headline));
  for (const std::string& detail : found.details) {
    paragraph(detail);
  }
  add("</div>\n");
  if (!document_.envelope.complete) {
    paragraph("This comparison was interrupted: it holds only what was finished.", "alarm");
  }
  for (const FailResult& result : comparison_.fail_if) {
    paragraph(fmt::format("Threshold {}: {} ({})", result.tripped ? "crossed" : "kept", result.rule,
                          result.detail),
              result.tripped ? "alarm" : "note");
  }
  for (const Configuration& configuration : comparison_.configurations) {
    for (std::size_t i = 0; i < configuration.violations.size() && i < 5; ++i) {
      const model::Violation& violation = configuration.violations[i];
      paragraph(fmt::format("{} violated under {} at {} ns: {}", violation.property,
                            configuration.name, violation.t, violation.detail),
                "alarm");
    }
  }
}

void Page::dist_table(const DistTable& dists) {
  constexpr std::pair<std::string_view, std::optional<model::Duration> Dist::*> stats[] = {
      {"p50", &Dist::p50_ns}, {"p90", &Dist::p90_ns},   {"p95", &Dist::p95_ns},
      {"p99", &Dist::p99_ns}, {"mean", &Dist::mean_ns}, {"max", &Dist::max_ns}};
  out_ += fmt::format(
      "<div class=\"wide\"><table>\n<caption>{}</caption>\n<thead><tr><th scope=\"col\"></th>"
      "<th scope=\"col\" class=\"n\">n</th>",
      escaped(dists.title));
  for (const auto& [label, member] : stats) {
    out_ += fmt::format("<th scope=\"col\" class=\"n\">{}</th>", label);
  }
  add("</tr></thead>\n<tbody>\n");
  for (std::size_t i = 0; i < dists.rows.size(); ++i) {
    const Dist& dist = dists.rows[i];
    out_ += fmt::format(
        "<tr><th scope=\"row\">{}</th><td class=\"n\">{}{}</td>",
        escaped(comparison_.configurations[i].name), count_text(dist.n, true),
        dist.censored > 0 ? fmt::format(" (+{} cut off)", count_text(dist.censored, true)) : "");
    for (const auto& [label, member] : stats) {
      out_ += fmt::format("<td class=\"n\">{}</td>",
                          dist.*member ? duration_text(*(dist.*member)) : "-");
    }
    add("</tr>\n");
  }
  if (dists.change) {
    add("<tr><th scope=\"row\">change</th><td></td>");
    for (const auto& [label, member] : stats) {
      const auto base = dists.rows[0].*member;
      const auto other = dists.rows[1].*member;
      out_ += base && other ? change_cell(*base, *other, comparison_.min_effect_ppm)
                            : "<td class=\"n\">-</td>";
    }
    add("</tr>\n");
  }
  add("</tbody></table></div>\n");
}

void Page::count_table() {
  add("<div class=\"wide\"><table>\n<caption>outcomes, cluster, gangs</caption>\n<thead><tr><th "
      "scope=\"col\"></th>");
  for (const Configuration& configuration : comparison_.configurations) {
    out_ += fmt::format("<th scope=\"col\" class=\"n\">{}</th>", escaped(configuration.name));
  }
  add("</tr></thead>\n<tbody>\n");
  const auto row = [&](std::string_view name, auto text) {
    out_ += fmt::format("<tr><th scope=\"row\">{}</th>", escaped(name));
    for (const Configuration& configuration : comparison_.configurations) {
      out_ += fmt::format("<td class=\"n\">{}</td>", text(configuration));
    }
    add("</tr>\n");
  };
  row("requests", [](const Configuration& c) { return count_text(std::ssize(c.requests), true); });
  row("succeeded", [](const Configuration& c) { return count_text(c.latency.n, true); });
  row("rejected", [](const Configuration& c) { return count_text(c.rejected, true); });
  row("failed", [](const Configuration& c) { return count_text(c.failed, true); });
  row("cancelled", [](const Configuration& c) { return count_text(c.cancelled, true); });
  row("unfinished", [](const Configuration& c) { return count_text(c.unfinished, true); });
  row("makespan", [](const Configuration& c) { return duration_text(c.makespan_ns); });
  row("cluster", [](const Configuration& c) { return escaped(c.cluster); });
  row("slots, at most", [](const Configuration& c) { return count_text(c.slots_max, true); });
  row("utilization", [](const Configuration& c) {
    return share_text(c.totals.use(SlotUse::busy), c.totals.slot_time);
  });
  row("work in groups",
      [](const Configuration& c) { return share_text(c.work_in_groups, c.work); });
  row("gangs admitted", [](const Configuration& c) { return count_text(c.gangs.admitted, true); });
  row("gangs that waited for slots",
      [](const Configuration& c) { return count_text(c.gangs.waited, true); });
  row("longest wait of a gang",
      [](const Configuration& c) { return duration_text(c.gangs.wait_ns_max); });
  add("</tbody></table></div>\n");
}

void Page::key_numbers() {
  heading("Key numbers");
  for (const DistTable& table : dist_tables(comparison_)) {
    dist_table(table);
  }
  count_table();
}

void Page::latency() {
  heading("Latency");
  figure(latency_chart(comparison_),
         "Share of all requests completed within a time. A line that ends below 100% shows "
         "requests that were rejected, failed or cut off.");
}

void Page::changes() {
  for (std::size_t i = 0; i < comparison_.paired.size(); ++i) {
    const Paired& paired = comparison_.paired[i];
    heading(fmt::format("Change per request: {} against {}", paired.name, comparison_.baseline));
    if (paired.requests.empty()) {
      paragraph("No request succeeded in both.");
      continue;
    }
    paragraph(fmt::format(
        "{} succeeded in both: {} faster, {} slower, {} the same within the smallest effect. "
        "Median speedup {}, no confidence interval (one seed).",
        plural(std::ssize(paired.requests), "request"), paired.faster, paired.slower, paired.same,
        paired.median_pair ? speedup_text(paired.requests[*paired.median_pair].base_ns,
                                          paired.requests[*paired.median_pair].other_ns)
                           : "-"));
    figure(change_chart(comparison_, i), "Sorted by change; blue is faster, orange slower.");
  }
}

void Page::swatches() {
  add("<ul class=\"swatches\">");
  for (std::size_t use = 0; use < slot_uses; ++use) {
    out_ += fmt::format(
        "<li><svg viewBox=\"0 0 32 16\" aria-hidden=\"true\"><rect width=\"32\" "
        "height=\"16\" class=\"{}\"/></svg>{}</li>",
        use_class(static_cast<SlotUse>(use)), slot_use_names[use]);
  }
  add("</ul>\n");
}

void Page::prices() {
  heading("What slot time was spent on");
  paragraph(
      "The three prices of gang admission are slots that are reserved, drained for a waiting "
      "head, or held by blocked tasks. Every row is exact, and the six add up to slot time; "
      "that is checked at every instant of the run.");
  swatches();
  figure(price_chart(comparison_), "Slot time by use.");
  add("<div class=\"wide\"><table>\n<thead><tr><th scope=\"col\">slot seconds</th>");
  for (const Configuration& configuration : comparison_.configurations) {
    out_ += fmt::format(
        "<th scope=\"col\" class=\"n\">{}</th><th scope=\"col\" class=\"n\">share"
        "</th>",
        escaped(configuration.name));
  }
  add("</tr></thead>\n<tbody>\n");
  const auto row = [&](std::string_view name, std::string_view style, auto value) {
    out_ += fmt::format("<tr{}><th scope=\"row\">{}</th>", style, name);
    for (const Configuration& configuration : comparison_.configurations) {
      const Wide slot_ns = value(configuration.totals);
      out_ +=
          fmt::format("<td class=\"n\">{}</td><td class=\"n\">{}</td>", slot_seconds_text(slot_ns),
                      share_text(slot_ns, configuration.totals.slot_time));
    }
    add("</tr>\n");
  };
  for (std::size_t use = 0; use < slot_uses; ++use) {
    row(slot_use_names[use], "", [use](const Totals& totals) { return totals.slot_use[use]; });
  }
  row("sum of the six", " class=\"sum\"", [](const Totals& totals) {
    Wide sum = 0;
    for (const Wide use : totals.slot_use) {
      sum += use;
    }
    return sum;
  });
  row("slots times time, counted apart", "", [](const Totals& totals) { return totals.slot_time; });
  add("</tbody></table></div>\n");
}

void Page::timelines() {
  heading("Over time");
  paragraph(
      "Slots of live executors by use above, stages below: a dotted line while a stage or "
      "its gang is ready and runs no task yet, a bar from its first task to its end. Blue bars "
      "start as a "
      "gang, grey ones do not, hatched ones failed or were cancelled.");
  swatches();
  model::Instant until = 0;
  std::int64_t slots_max = 0;
  for (const Configuration& configuration : comparison_.configurations) {
    until = std::max(until, configuration.runs.front().end_ns);
    slots_max = std::max(slots_max, configuration.runs.front().slots_max);
  }
  const std::size_t all = comparison_.configurations.size();
  for (std::size_t i = 0; i < std::min(all, timelines_max); ++i) {
    const Configuration& configuration = comparison_.configurations[i];
    out_ += fmt::format("<h3>{}</h3>\n", escaped(configuration.name));
    const std::string_view which =
        configuration.runs.size() > 1 ? "The first input only." : "Same axes for all.";
    figure(timeline_chart(configuration, i, until, slots_max), which);
  }
  if (all > timelines_max) {
    paragraph(fmt::format("{} further configurations are not drawn.", all - timelines_max), "note");
  }
}

void Page::losers() {
  heading("Rejected, failed, unfinished");
  bool any = false;
  for (const Configuration& configuration : comparison_.configurations) {
    std::size_t all = 0;
    for (const RequestMetrics& request : configuration.requests) {
      if (request.outcome == Outcome::succeeded) {
        continue;
      }
      if (++all == 1) {
        out_ += fmt::format(
            "<h3>{}</h3>\n<div class=\"wide\"><table>\n<thead><tr><th scope=\"col\">request</th>"
            "<th scope=\"col\">outcome</th><th scope=\"col\">code</th><th scope=\"col\" "
            "class=\"n\">tries</th><th scope=\"col\" class=\"n\">ended</th><th scope=\"col\">"
            "detail</th></tr></thead>\n<tbody>\n",
            escaped(configuration.name));
      }
      if (all <= rows_max) {
        out_ += fmt::format(
            "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td class=\"n\">{}"
            "</td><td class=\"n\">{}</td><td>{}</td></tr>\n",
            escaped(request.name), name_of(request.outcome),
            request.code ? model::name_of(*request.code) : "", request.tries,
            request.end_ns ? duration_text(*request.end_ns) : "-", escaped(request.detail));
      }
    }
    if (all > 0) {
      add("</tbody></table></div>\n");
      more(all, "requests");
      any = true;
    }
  }
  if (!any) {
    paragraph("Every request succeeded under every configuration.");
  }
}

void Page::marking() {
  heading("What was marked pipelined");
  bool any = false;
  for (const Input& input : document_.envelope.inputs) {
    if (!input.marking) {
      continue;
    }
    const Marking& marking = *input.marking;
    if (!any) {
      add("<div class=\"wide\"><table>\n<thead><tr><th scope=\"col\">input</th><th scope=\"col\">"
          "unit</th><th scope=\"col\" class=\"n\">candidates</th><th scope=\"col\" "
          "class=\"n\">marked</th><th scope=\"col\">left regular, by reason</th><th scope=\"col\" "
          "class=\"n\">work in groups</th><th scope=\"col\">narrowed</th><th scope=\"col\">widest "
          "unit as one group</th></tr></thead>\n<tbody>\n");
      any = true;
    }
    std::vector<std::string> left;
    left.reserve(marking.left.size());
    for (const auto& [reason, count] : marking.left) {
      left.push_back(fmt::format("{} {}", count_text(count, true), reason));
    }
    out_ += fmt::format(
        "<tr><th scope=\"row\">{}</th><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td>"
        "<td>{}</td><td class=\"n\">{}</td><td>{}</td><td>{}</td></tr>\n",
        escaped(file_name(input.path)), escaped(marking.unit), count_text(marking.candidates, true),
        count_text(marking.marked, true),
        left.empty() ? "none" : escaped(fmt::format("{}", fmt::join(left, ", "))),
        share_text(marking.work_in_groups, marking.work),
        marking.narrowed
            ? fmt::format("{} tasks became {}", count_text(marking.narrowed->tasks_before, true),
                          count_text(marking.narrowed->tasks_after, true))
            : "no",
        marking.widest ? escaped(fmt::format("{}: {}, {} slots", marking.widest->unit,
                                             plural(marking.widest->stages, "stage"),
                                             count_text(marking.widest->slots, true)))
                       : "-");
  }
  if (any) {
    add("</tbody></table></div>\n");
  } else {
    paragraph("Nothing was asked to be marked: edges are as the input has them.");
  }
}

void Page::assumptions() {
  if (comparison_.assumptions.empty()) {
    return;
  }
  heading("What was assumed");
  add("<ul>\n");
  for (const std::string& assumption : comparison_.assumptions) {
    out_ += fmt::format("<li>{}</li>\n", escaped(assumption));
  }
  add("</ul>\n");
}

void Page::warnings() {
  std::vector<std::string> lines = comparison_.warnings;
  for (const Input& input : document_.envelope.inputs) {
    for (const InputWarning& warning : input.warnings) {
      lines.push_back(warning.line ? fmt::format("{}:{}: {}", file_name(input.path), *warning.line,
                                                 warning.what)
                                   : fmt::format("{}: {}", file_name(input.path), warning.what));
    }
  }
  heading("Warnings");
  if (lines.empty()) {
    paragraph("None.");
    return;
  }
  add("<ul>\n");
  for (std::size_t i = 0; i < lines.size() && i < rows_max; ++i) {
    out_ += fmt::format("<li>{}</li>\n", escaped(lines[i]));
  }
  add("</ul>\n");
  more(lines.size(), "warnings");
}

void Page::meanings() {
  heading("What the numbers mean");
  add("<dl>\n");
  for (const Definition& definition : definitions()) {
    out_ += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escaped(definition.term),
                        escaped(definition.meaning));
  }
  add("</dl>\n");
}

}  // namespace

model::Result<std::string> write_html(const Document& document, const WriteOptions&) {
  const auto* comparison = std::get_if<CompareDocument>(&document);
  if (comparison == nullptr) {
    return std::unexpected(model::Error{.what = "only a comparison can be written as a page",
                                        .remedy = "use --json, or the text on stdout"});
  }
  return Page(*comparison).write();
}

}  // namespace rehearse::reports
